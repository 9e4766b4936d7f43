import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * Lucene indexes texts that are generated once, merges segments, and searches for a few words.
 *
 * <p>Arguments: the number of documents.
 */
public final class Indexing implements Work {
    private static final String[] SYLLABLES = {"ka", "lo", "mir", "ten", "su", "ra", "vel", "do", "ni", "pra", "esh", "uno", "gri", "bal"};
    private final String[] words = new String[900];
    private final String[] texts;

    public Indexing(String[] args) {
        Random random = new Random(7);
        for (int i = 0; i < words.length; i++) {
            StringBuilder word = new StringBuilder();
            for (int k = 1 + random.nextInt(3); k >= 0; k--) {
                word.append(SYLLABLES[random.nextInt(SYLLABLES.length)]);
            }
            words[i] = word.toString();
        }
        texts = new String[Integer.parseInt(args[0])];
        for (int i = 0; i < texts.length; i++) {
            StringBuilder text = new StringBuilder();
            for (int k = 60 + random.nextInt(80); k > 0; k--) {
                // Low numbers are more frequent, as in a natural language.
                double r = random.nextDouble();
                text.append(words[(int) (r * r * r * words.length)]).append(k % 9 == 0 ? ". " : " ");
            }
            texts[i] = text.toString();
        }
    }

    @Override
    public long round() throws Exception {
        long sum = 0;
        try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
            // A segment ends after a fixed number of documents, and segments are merged in this
            // thread. So the index is the same each time.
            IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer()).setMergeScheduler(new SerialMergeScheduler())
                .setMaxBufferedDocs(100).setRAMBufferSizeMB(IndexWriterConfig.DISABLE_AUTO_FLUSH);
            try (IndexWriter writer = new IndexWriter(directory, config)) {
                for (int i = 0; i < texts.length; i++) {
                    Document document = new Document();
                    document.add(new StringField("id", "d" + i, Field.Store.YES));
                    document.add(new TextField("body", texts[i], Field.Store.NO));
                    document.add(new NumericDocValuesField("length", texts[i].length()));
                    writer.addDocument(document);
                }
                writer.forceMerge(1);
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                for (int i = 0; i < words.length; i += 45) {
                    for (ScoreDoc hit : searcher.search(new TermQuery(new Term("body", words[i])), 20).scoreDocs) {
                        sum = sum * 31 + hit.doc + Float.floatToIntBits(hit.score);
                    }
                }
                sum = sum * 31 + reader.numDocs();
            }
        }
        return sum;
    }
}

import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.WildcardQuery;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;

/**
 * Indexes generated texts, searches them in many ways, deletes some, merges segments, and searches
 * again.
 */
public class Search {
    private static final String[] SYLLABLES = {"ka", "lo", "mir", "ten", "su", "ra", "vel", "do", "ni", "pra", "esh", "uno", "gri", "bal"};

    public static void main(String[] args) throws Exception {
        Random random = new Random(7);
        String[] words = new String[900];
        for (int i = 0; i < words.length; i++) {
            StringBuilder word = new StringBuilder();
            for (int k = 1 + random.nextInt(3); k >= 0; k--) word.append(SYLLABLES[random.nextInt(SYLLABLES.length)]);
            words[i] = word.toString();
        }
        Directory directory = new ByteBuffersDirectory();
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
        // Merge in the writing thread, so that the segments are the same each time.
        config.setMergeScheduler(new SerialMergeScheduler()).setMaxBufferedDocs(200).setRAMBufferSizeMB(IndexWriterConfig.DISABLE_AUTO_FLUSH);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int i = 0; i < 1500; i++) writer.addDocument(document(i, words, random));
            writer.commit();
            report("all", directory, words);
            System.out.println("deletes " + (writer.deleteDocuments(new TermQuery(new Term("title", words[3]))) > 0));
            for (int i = 0; i < 250; i++) writer.updateDocument(new Term("id", "d" + i * 5), document(i * 5, words, random));
            writer.commit();
            report("updated", directory, words);
            writer.forceMerge(1);
            writer.commit();
            report("merged", directory, words);
        }
    }

    private static Document document(int number, String[] words, Random random) {
        Document document = new Document();
        document.add(new StringField("id", "d" + number, Field.Store.YES));
        document.add(new TextField("title", text(words, random, 4), Field.Store.YES));
        document.add(new TextField("body", text(words, random, 60 + random.nextInt(80)), Field.Store.NO));
        int year = 1900 + random.nextInt(120);
        document.add(new IntPoint("year", year));
        document.add(new NumericDocValuesField("year", year));
        return document;
    }

    private static String text(String[] words, Random random, int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            // Low numbers are more frequent, as in a natural language.
            double r = random.nextDouble();
            text.append(words[(int) (r * r * r * words.length)]).append(i % 9 == 8 ? ". " : " ");
        }
        return text.toString();
    }

    private static void report(String when, Directory directory, String[] words) throws Exception {
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            System.out.println(when + ": " + reader.numDocs() + " documents, " + reader.leaves().size() + " segments");
            IndexSearcher searcher = new IndexSearcher(reader);
            for (int i = 0; i < 6; i++) {
                show(searcher, new TermQuery(new Term("body", words[i * 40])));
                show(searcher, new BooleanQuery.Builder().add(new TermQuery(new Term("body", words[i])), BooleanClause.Occur.MUST)
                    .add(new TermQuery(new Term("title", words[i + 1])), BooleanClause.Occur.SHOULD)
                    .add(new TermQuery(new Term("body", words[i + 9])), BooleanClause.Occur.MUST_NOT).build());
                show(searcher, new PhraseQuery(2, "body", words[i], words[i + 2]));
                show(searcher, new PrefixQuery(new Term("title", SYLLABLES[i])));
                show(searcher, new WildcardQuery(new Term("body", SYLLABLES[i] + "*" + SYLLABLES[i + 1])));
                show(searcher, new FuzzyQuery(new Term("title", words[i * 11] + "x"), 1));
                show(searcher, IntPoint.newRangeQuery("year", 1900 + i * 10, 1905 + i * 10));
            }
            Digest all = new Digest();
            for (String word : words) {
                TopDocs top = searcher.search(new TermQuery(new Term("body", word)), 20, new Sort(new SortField("year", SortField.Type.INT, true), SortField.FIELD_DOC));
                for (ScoreDoc doc : top.scoreDocs) all.add(word + doc.doc);
            }
            System.out.println("  by year " + all);
        }
    }

    private static void show(IndexSearcher searcher, Query query) throws Exception {
        TopDocs top = searcher.search(query, 4);
        StringBuilder text = new StringBuilder("  " + query + ": " + top.totalHits);
        for (ScoreDoc doc : top.scoreDocs) {
            text.append(" ").append(searcher.storedFields().document(doc.doc).get("id")).append("=").append(doc.score);
        }
        System.out.println(text);
    }
}

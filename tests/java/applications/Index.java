import java.io.IOException;
import java.util.Random;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.standard.StandardTokenizer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * Lucene indexes documents, again and again. The fault: the filter of the analysis looks through a list
 * for each word. A comment `FAULT index` marks the lines.
 */
public class Index {
    private static final String[] STOPPED = words(3_000);

    public static void main(String[] args) throws IOException {
        index();
        End.ready();
        while (true) {
            index();
        }
    }

    private static String[] words(int count) {
        Random random = new Random(count);
        String[] words = new String[count];
        for (int n = 0; n < count; n++) {
            words[n] = Integer.toString(random.nextInt(1_000_000_000), 36);
        }
        return words;
    }

    private static void index() throws IOException {
        String[] known = words(2_000);
        Random random = new Random(1);
        try (var directory = new ByteBuffersDirectory();
                var writer = new IndexWriter(directory, new IndexWriterConfig(new Analysis()))) {
            for (int n = 0; n < 500; n++) {
                StringBuilder text = new StringBuilder();
                for (int word = 0; word < 50; word++) {
                    text.append(known[random.nextInt(known.length)]).append(' ');
                }
                Document document = new Document();
                document.add(new TextField("text", text.toString(), Field.Store.YES));
                writer.addDocument(document);
            }
            writer.commit();
        }
    }

    static class Analysis extends Analyzer {
        @Override
        protected TokenStreamComponents createComponents(String field) {
            Tokenizer words = new StandardTokenizer();
            return new TokenStreamComponents(words, new Stopped(words));
        }
    }

    static final class Stopped extends TokenFilter {
        private final CharTermAttribute term = addAttribute(CharTermAttribute.class);

        Stopped(TokenStream input) {
            super(input);
        }

        @Override
        public boolean incrementToken() throws IOException {
            while (input.incrementToken()) {
                if (!isStopped(term.toString())) {
                    return true;
                }
            }
            return false;
        }

        private static boolean isStopped(String word) {
            for (String one : STOPPED) { // FAULT index
                if (one.equals(word)) { // FAULT index
                    return true; // FAULT index
                } // FAULT index
            } // FAULT index
            return false; // FAULT index
        }
    }
}

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;

/** SHA-256 of a program's results that are too long to print. */
final class Digest {
    private final MessageDigest digest;

    Digest() throws Exception {
        digest = MessageDigest.getInstance("SHA-256");
    }

    Digest add(String text) {
        return add(text.getBytes(StandardCharsets.UTF_8)).add(new byte[] {'\n'});
    }

    Digest add(byte[] bytes) {
        digest.update(bytes);
        return this;
    }

    /** Returns the first 16 hexadecimal digits, and resets the digest. */
    @Override
    public String toString() {
        return HexFormat.of().formatHex(digest.digest(), 0, 8);
    }

    static String of(byte[] bytes) throws Exception {
        return new Digest().add(bytes).toString();
    }

    static String of(String text) throws Exception {
        return new Digest().add(text).toString();
    }
}

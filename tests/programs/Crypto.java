import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.bouncycastle.crypto.BlockCipher;
import org.bouncycastle.crypto.CryptoException;
import org.bouncycastle.crypto.InvalidCipherTextException;
import org.bouncycastle.crypto.digests.Blake2bDigest;
import org.bouncycastle.crypto.digests.SHA3Digest;
import org.bouncycastle.crypto.digests.WhirlpoolDigest;
import org.bouncycastle.crypto.engines.AESEngine;
import org.bouncycastle.crypto.engines.CamelliaEngine;
import org.bouncycastle.crypto.engines.ChaCha7539Engine;
import org.bouncycastle.crypto.engines.SerpentEngine;
import org.bouncycastle.crypto.engines.TwofishEngine;
import org.bouncycastle.crypto.generators.Argon2BytesGenerator;
import org.bouncycastle.crypto.generators.SCrypt;
import org.bouncycastle.crypto.modes.GCMBlockCipher;
import org.bouncycastle.crypto.params.AEADParameters;
import org.bouncycastle.crypto.params.Argon2Parameters;
import org.bouncycastle.crypto.params.Ed25519PrivateKeyParameters;
import org.bouncycastle.crypto.params.KeyParameter;
import org.bouncycastle.crypto.params.ParametersWithIV;
import org.bouncycastle.crypto.params.X25519PrivateKeyParameters;
import org.bouncycastle.crypto.signers.Ed25519Signer;
import org.bouncycastle.math.ec.ECPoint;
import org.bouncycastle.crypto.ec.CustomNamedCurves;
import org.bouncycastle.util.encoders.Hex;

/**
 * Ciphers, digests, signatures and curves of Bouncy Castle with fixed keys; zip and regular
 * expressions of the JDK.
 */
public class Crypto {
    public static void main(String[] args) throws Exception {
        for (int round = 0; round < 2; round++) {
            Random random = new Random(round);
            byte[] data = new byte[60_000];
            random.nextBytes(data);
            System.out.println("round " + round);
            ciphers(data);
            digests(data);
            signatures(data, random);
            zip(random);
            expressions(random);
        }
    }

    private static void ciphers(byte[] data) throws Exception {
        byte[] key = java.util.Arrays.copyOf(data, 32), nonce = java.util.Arrays.copyOf(data, 12);
        for (BlockCipher engine : new BlockCipher[] {AESEngine.newInstance(), new TwofishEngine(), new SerpentEngine(), new CamelliaEngine()}) {
            var cipher = GCMBlockCipher.newInstance(engine);
            byte[] sealed = seal(cipher, true, key, nonce, data);
            byte[] open = seal(cipher, false, key, nonce, sealed);
            System.out.println(engine.getAlgorithmName() + " " + Digest.of(sealed) + " " + java.util.Arrays.equals(open, data));
            sealed[100] ^= 1;
            try {
                seal(cipher, false, key, nonce, sealed);
            } catch (InvalidCipherTextException e) {
                System.out.println(e.getMessage());
            }
        }
        ChaCha7539Engine stream = new ChaCha7539Engine();
        stream.init(true, new ParametersWithIV(new KeyParameter(key), nonce));
        byte[] out = new byte[data.length];
        stream.processBytes(data, 0, data.length, out, 0);
        System.out.println("ChaCha " + Digest.of(out));
    }

    private static byte[] seal(org.bouncycastle.crypto.modes.AEADBlockCipher cipher, boolean forward, byte[] key, byte[] nonce, byte[] data) throws InvalidCipherTextException {
        cipher.init(forward, new AEADParameters(new KeyParameter(key), 128, nonce, "head".getBytes(StandardCharsets.UTF_8)));
        byte[] out = new byte[cipher.getOutputSize(data.length)];
        int length = cipher.processBytes(data, 0, data.length, out, 0);
        cipher.doFinal(out, length);
        return out;
    }

    private static void digests(byte[] data) {
        for (org.bouncycastle.crypto.Digest digest : new org.bouncycastle.crypto.Digest[] {new SHA3Digest(256), new Blake2bDigest(256), new WhirlpoolDigest()}) {
            byte[] out = new byte[digest.getDigestSize()];
            for (int i = 0; i < 3; i++) digest.update(data, i, data.length - i);
            digest.doFinal(out, 0);
            System.out.println(digest.getAlgorithmName() + " " + Hex.toHexString(out));
        }
        System.out.println("scrypt " + Hex.toHexString(SCrypt.generate("word".getBytes(), "salt".getBytes(), 1024, 8, 1, 16)));
        Argon2BytesGenerator argon = new Argon2BytesGenerator();
        argon.init(new Argon2Parameters.Builder(Argon2Parameters.ARGON2_id).withSalt("saltsalt".getBytes()).withMemoryAsKB(512).withIterations(2).withParallelism(1).build());
        byte[] out = new byte[16];
        argon.generateBytes("word".getBytes(), out);
        System.out.println("argon2 " + Hex.toHexString(out));
    }

    private static void signatures(byte[] data, Random random) throws CryptoException {
        Ed25519PrivateKeyParameters key = new Ed25519PrivateKeyParameters(data, 0);
        for (int i = 0; i < 8; i++) {
            Ed25519Signer signer = new Ed25519Signer();
            signer.init(true, key);
            signer.update(data, i, 1000);
            byte[] signature = signer.generateSignature();
            if (i % 3 == 2) signature[5] ^= 4;
            signer.init(false, key.generatePublicKey());
            signer.update(data, i, 1000);
            System.out.println(Hex.toHexString(signature, 0, 8) + " " + signer.verifySignature(signature));
        }
        byte[] secret = new byte[32];
        new X25519PrivateKeyParameters(data, 50).generateSecret(new X25519PrivateKeyParameters(data, 90).generatePublicKey(), secret, 0);
        System.out.println("x25519 " + Hex.toHexString(secret));
        for (String name : new String[] {"secp256r1", "secp521r1", "curve25519"}) {
            var curve = CustomNamedCurves.getByName(name);
            ECPoint point = curve.getG();
            for (int i = 0; i < 6; i++) point = point.multiply(new BigInteger(200, random)).add(curve.getG()).normalize();
            System.out.println(name + " " + point.getXCoord().toString().substring(0, 16) + " " + point.isValid());
        }
        BigInteger p = new BigInteger("C7970CEEA67CAB9D33A1A50C8D8D3EFA1D3EE3AF0F0E6DF1F3AC0AD7C1E6A34F", 16), q = p;
        do p = p.nextProbablePrime(); while (p.mod(BigInteger.valueOf(3)).intValue() == 1);
        q = p.add(BigInteger.TWO.pow(100));
        do q = q.nextProbablePrime(); while (q.mod(BigInteger.valueOf(3)).intValue() == 1);
        BigInteger message = new BigInteger(300, random), n = p.multiply(q), e = BigInteger.valueOf(3), d = e.modInverse(p.subtract(BigInteger.ONE).multiply(q.subtract(BigInteger.ONE)));
        System.out.println("rsa " + message.modPow(e, n).modPow(d, n).equals(message) + " " + message.modPow(d, n).toString(36).substring(0, 20));
    }

    private static void zip(Random random) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream out = new ZipOutputStream(bytes)) {
            for (int i = 0; i < 40; i++) {
                ZipEntry entry = new ZipEntry("folder/entry" + i);
                entry.setTime(1_000_000_000_000L);
                out.putNextEntry(entry);
                out.write(("text " + Long.toString(random.nextLong(), 36) + " ").repeat(i * 20).getBytes());
                out.closeEntry();
            }
        }
        int count = 0;
        CRC32 sum = new CRC32();
        try (ZipInputStream in = new ZipInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry(), count++) sum.update((entry.getName() + new String(in.readAllBytes())).getBytes());
        }
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) { out.write(bytes.toByteArray()); }
        byte[] back = new GZIPInputStream(new ByteArrayInputStream(packed.toByteArray())).readAllBytes();
        System.out.println("zip " + count + " " + sum.getValue() + " " + java.util.Arrays.equals(back, bytes.toByteArray()));
    }

    private static void expressions(Random random) throws Exception {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 3000; i++) text.append(Long.toString(Math.abs(random.nextLong()), 36), 0, 2 + random.nextInt(8)).append(" .@-,:".charAt(random.nextInt(6)));
        Digest all = new Digest();
        for (String expression : new String[] {"(\\w+)@(\\w+)\\.(\\w+)", "(?<=-)[a-f]+(?!\\d)", "(\\w)\\1", "(?i)\\bx[^y]*?y\\b", "(?:a|b|ab)+c", "[^\\W\\d_]{5,}+", "(?<first>\\d{2,3}),(?<rest>.{0,5}):"}) {
            Matcher matcher = Pattern.compile(expression).matcher(text);
            int count = 0;
            for (; matcher.find(); count++) all.add(matcher.group() + matcher.start());
            System.out.println(expression + " " + count);
        }
        System.out.println(all + " " + text.toString().split("[.,:]+").length + " " + Digest.of(text.toString().replaceAll("(\\w+)-(\\w+)", "$2_$1")));
    }
}

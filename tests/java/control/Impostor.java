import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Answers at the agent's socket as an agent of another version: each request gets the answer that
 * the argument contains.
 */
public class Impostor {
    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        if (!Files.isDirectory(directory)) {
            Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        Path path = directory.resolve(ProcessHandle.current().pid() + ".sock");
        Files.deleteIfExists(path);
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(path));
        Thread answers = new Thread(() -> {
            while (true) {
                try (SocketChannel client = server.accept()) {
                    client.read(ByteBuffer.allocate(1 << 16));
                    client.write(ByteBuffer.wrap((args[1] + "\n").getBytes()));
                    client.read(ByteBuffer.allocate(1 << 16));
                } catch (java.io.IOException e) {
                    return;
                }
            }
        });
        answers.setDaemon(true);
        answers.start();
        System.out.println("pid " + ProcessHandle.current().pid());
        System.in.read();
        Files.deleteIfExists(path);
    }
}

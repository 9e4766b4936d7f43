import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import io.netty.handler.codec.base64.Base64;
import io.netty.handler.codec.compression.JdkZlibDecoder;
import io.netty.handler.codec.compression.JdkZlibEncoder;
import io.netty.handler.codec.string.StringDecoder;
import io.netty.handler.codec.string.StringEncoder;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A Netty server on a free port that answers framed messages, compressed or not, of clients in the
 * same process.
 */
public class Echo {
    public static void main(String[] args) throws Exception {
        NioEventLoopGroup boss = new NioEventLoopGroup(1), workers = new NioEventLoopGroup(2);
        try {
            for (boolean zipped : new boolean[] {false, true}) {
                Channel server = new ServerBootstrap().group(boss, workers).channel(NioServerSocketChannel.class)
                    .childHandler(pipeline(zipped, null)).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
                List<Client> clients = new ArrayList<>();
                for (int i = 0; i < 4; i++) clients.add(new Client(i, zipped, workers, (InetSocketAddress) server.localAddress()));
                for (Client client : clients) System.out.println("zipped " + zipped + " client " + client.number + " " + client.finish());
                server.close().sync();
            }
            buffers();
        } finally {
            boss.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
            workers.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        }
        System.out.println("down");
    }

    private static ChannelInitializer<Channel> pipeline(boolean zipped, BlockingQueue<String> answers) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                if (zipped) channel.pipeline().addLast(new JdkZlibEncoder(), new JdkZlibDecoder());
                channel.pipeline().addLast(new LengthFieldBasedFrameDecoder(1 << 20, 0, 4, 0, 4), new LengthFieldPrepender(4),
                    new StringDecoder(StandardCharsets.UTF_8), new StringEncoder(StandardCharsets.UTF_8), answers == null ? new Answer() : new Collect(answers));
            }
        };
    }

    static class Answer extends SimpleChannelInboundHandler<String> {
        private int count;

        @Override
        protected void channelRead0(ChannelHandlerContext context, String text) {
            count++;
            String answer = switch (text.charAt(0)) {
                case 'r' -> new StringBuilder(text).reverse().toString();
                case 'u' -> text.toUpperCase(java.util.Locale.ROOT);
                case 'd' -> text + text;
                case 'x' -> throw new IllegalArgumentException("asked for it " + count);
                default -> text;
            };
            context.writeAndFlush(count + ":" + answer);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.writeAndFlush("error " + cause.getMessage());
        }
    }

    @ChannelHandler.Sharable
    static class Collect extends SimpleChannelInboundHandler<String> {
        private final BlockingQueue<String> answers;

        Collect(BlockingQueue<String> answers) {
            this.answers = answers;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, String text) {
            answers.add(text);
        }
    }

    static class Client {
        private static final int MESSAGES = 800;
        final int number;
        private final Channel channel;
        private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

        Client(int number, boolean zipped, NioEventLoopGroup group, InetSocketAddress address) throws Exception {
            this.number = number;
            channel = new Bootstrap().group(group).channel(NioSocketChannel.class).handler(pipeline(zipped, answers)).connect(address).sync().channel();
            Random random = new Random(number);
            for (int i = 0; i < MESSAGES; i++) {
                StringBuilder text = new StringBuilder().append("rudxe".charAt(random.nextInt(5))).append(i);
                for (int k = random.nextInt(300); k > 0; k--) text.append((char) (random.nextInt(10) == 0 ? 0x4e00 + k : 'a' + random.nextInt(26)));
                channel.write(text.toString());
                if (i % 16 == 0) channel.flush();
            }
            channel.flush();
        }

        String finish() throws Exception {
            Digest all = new Digest();
            long length = 0;
            String last = "";
            for (int i = 0; i < MESSAGES; i++) {
                last = answers.poll(60, TimeUnit.SECONDS);
                all.add(last);
                length += last.length();
            }
            channel.close().sync();
            return length + " " + all + " " + last.substring(0, Math.min(12, last.length()));
        }
    }

    private static void buffers() {
        ByteBuf buffer = Unpooled.buffer();
        for (int i = 0; i < 4000; i++) buffer.writeInt(i * i).writeShortLE(i).writeDouble(Math.sqrt(i)).writeByte(i);
        ByteBuf coded = Base64.encode(buffer.slice(), false);
        System.out.println(buffer.readableBytes() + " " + coded.readableBytes() + " " + ByteBufUtil.hashCode(coded) + " " + ByteBufUtil.hexDump(buffer, 1000, 24));
        ByteBuf joined = Unpooled.wrappedBuffer(buffer.retainedSlice(5, 50), coded.retainedSlice(7, 40));
        System.out.println(ByteBufUtil.prettyHexDump(joined, 0, 64) + " " + ByteBufUtil.indexOf(joined, coded.slice(10, 8)) + " " + LocalAddress.ANY);
    }
}

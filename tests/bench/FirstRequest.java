import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** Starts a Tomcat, answers one request, and prints the answer. Argument: a working folder. */
public final class FirstRequest extends HttpServlet {
    private static final long serialVersionUID = 1;

    public static void main(String[] args) throws Exception {
        Logger.getLogger("org.apache").setLevel(Level.OFF);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(args[0]);
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(0);
        Context context = tomcat.addContext("", args[0]);
        Tomcat.addServlet(context, "first", new FirstRequest());
        context.addServletMappingDecoded("/first", "first");
        tomcat.start();
        String address = "http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/first?a=3";
        try (InputStream in = URI.create(address).toURL().openStream()) {
            System.out.println("result " + new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
        // The time of the shutdown is not measured.
        Runtime.getRuntime().halt(0);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/plain");
        response.getWriter().print("a is " + request.getParameter("a"));
    }
}

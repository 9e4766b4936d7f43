import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Random;
import java.util.TreeMap;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.zip.GZIPInputStream;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/**
 * A Tomcat that answers a fixed list of requests of a client in the same process. Argument: a
 * working folder.
 */
public class Web {
    private static String base;
    private static String cookie;

    public static void main(String[] args) throws Exception {
        Logger.getLogger("org.apache").setLevel(Level.OFF);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(args[0]);
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("compression", "on");
        tomcat.getConnector().setProperty("compressionMinSize", "2000");
        Context context = tomcat.addContext("", args[0]);
        add(context, "echo", "/echo/*", new Echo());
        add(context, "table", "/table", new TableServlet());
        add(context, "count", "/count", new Counting());
        add(context, "bad", "/bad", new Failing());
        FilterDef filter = new FilterDef();
        filter.setFilterName("mark");
        filter.setFilter(new Mark());
        context.addFilterDef(filter);
        FilterMap map = new FilterMap();
        map.setFilterName("mark");
        map.addURLPattern("/*");
        context.addFilterMap(map);
        tomcat.start();
        base = "http://127.0.0.1:" + tomcat.getConnector().getLocalPort();
        Digest all = new Digest();
        for (int i = 0; i < 250; i++) {
            String text = request("GET", "/echo/path%20" + i + "?a=" + i + "&b=" + "x".repeat(i % 40) + "&b=%C3%A9", null, false)
                + request("POST", "/echo/form", "k" + i + "=v%2B" + i + "&k=" + i, false)
                + request("GET", "/table?rows=" + (i % 50 + 1), null, i % 2 == 0) + request("GET", "/count", null, false);
            all.add(text);
            if (i % 50 == 0) System.out.print(text);
        }
        System.out.println("all " + all);
        for (String path : new String[] {"/nothing", "/bad", "/bad?how=io", "/bad?how=code", "/echo/%2e%2e/x", "/table?rows=x"}) {
            System.out.print(request("GET", path, null, false));
        }
        System.out.print(request("PUT", "/table", "text", false) + request("HEAD", "/table?rows=3", null, false) + request("OPTIONS", "/count", null, false));
        tomcat.stop();
        tomcat.destroy();
        System.out.println("stopped");
    }

    private static void add(Context context, String name, String path, HttpServlet servlet) {
        Tomcat.addServlet(context, name, servlet);
        context.addServletMappingDecoded(path, name);
    }

    private static String request(String method, String path, String body, boolean zipped) throws Exception {
        HttpURLConnection connection = (HttpURLConnection) URI.create(base + path).toURL().openConnection();
        connection.setRequestMethod(method);
        connection.setInstanceFollowRedirects(false);
        if (zipped) connection.setRequestProperty("Accept-Encoding", "gzip");
        if (cookie != null) connection.setRequestProperty("Cookie", cookie);
        if (body != null) {
            connection.setDoOutput(true);
            connection.setRequestProperty("Content-Type", "application/x-www-form-urlencoded");
            connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
        }
        int code = connection.getResponseCode();
        InputStream stream = code >= 400 ? connection.getErrorStream() : connection.getInputStream();
        String encoding = connection.getContentEncoding();
        if ("gzip".equals(encoding)) stream = new GZIPInputStream(stream);
        byte[] bytes = stream == null ? new byte[0] : stream.readAllBytes();
        if (connection.getHeaderField("Set-Cookie") != null) cookie = connection.getHeaderField("Set-Cookie").split(";")[0];
        String text = new String(bytes, StandardCharsets.UTF_8).replace(base, "BASE");
        return method + " " + path + " " + code + " " + connection.getContentType() + " " + encoding + " " + connection.getHeaderField("X-Mark")
            + " " + connection.getHeaderField("Allow") + " " + text.length() + " " + Digest.of(stackless(text)) + "\n";
    }

    /**
     * Removes the stack trace of an error page, which has lines of generated accessors and of this
     * machine's JDK.
     */
    private static String stackless(String page) {
        return page.replaceAll("(?s)<pre>.*?</pre>", "");
    }

    static class Echo extends HttpServlet {
        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.setContentType("text/plain;charset=UTF-8");
            response.getWriter().println(request.getMethod() + " " + request.getPathInfo() + " " + request.getQueryString());
            for (var entry : new TreeMap<>(request.getParameterMap()).entrySet()) {
                response.getWriter().println(entry.getKey() + "=" + String.join("|", entry.getValue()));
            }
        }
    }

    static class TableServlet extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException {
            int rows;
            try {
                rows = Integer.parseInt(request.getParameter("rows"));
            } catch (NumberFormatException e) {
                response.sendError(400, "rows is no number");
                return;
            }
            Random random = new Random(rows);
            response.setContentType("text/html");
            response.getWriter().print("<table>");
            for (int i = 0; i < rows; i++) {
                response.getWriter().print("<tr>");
                for (int k = 0; k < 12; k++) response.getWriter().printf("<td>%d</td>", random.nextInt(1000));
                response.getWriter().print("</tr>\n");
            }
            response.getWriter().print("</table>");
        }
    }

    static class Counting extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            var session = request.getSession();
            Integer count = (Integer) session.getAttribute("count");
            session.setAttribute("count", count == null ? 1 : count + 1);
            response.addCookie(new Cookie("last", String.valueOf(count)));
            response.getWriter().println("count " + count + " " + Collections.list(session.getAttributeNames()));
        }
    }

    static class Failing extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException {
            String how = String.valueOf(request.getParameter("how"));
            switch (how) {
                case "io": throw new IOException("broken on purpose");
                case "code": response.sendError(418, "a teapot"); break;
                default: throw new ServletException("failed on purpose", new IllegalStateException("the cause"));
            }
        }
    }

    static class Mark implements Filter {
        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
            ((HttpServletResponse) response).setHeader("X-Mark", ((HttpServletRequest) request).getRequestURI().length() + "");
            chain.doFilter(request, response);
        }
    }
}

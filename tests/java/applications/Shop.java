import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/**
 * A Tomcat with H2 and six clients. The fault: all requests ask the database for prices, one at a
 * time. A comment `FAULT shop` marks the line at which they wait; `ALSO shop` marks what the owner of
 * the lock does meanwhile, and `OTHER` the clients.
 */
public class Shop {
    private static final Object PRICES = new Object();
    private static Connection connection;

    public static void main(String[] args) throws Exception {
        Logger.getLogger("org.apache").setLevel(Level.OFF);
        connection = DriverManager.getConnection("jdbc:h2:mem:shop");
        fill();
        Tomcat tomcat = new Tomcat();
        String folder = Files.createTempDirectory("shop").toString();
        tomcat.setBaseDir(folder);
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(0);
        Context context = tomcat.addContext("", folder);
        Tomcat.addServlet(context, "orders", new Orders());
        context.addServletMappingDecoded("/order", "orders");
        tomcat.start();
        String address = "http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/order?article=";
        for (int n = 0; n < 6; n++) {
            int first = n;
            Thread client = new Thread(() -> order(address, first), "client-" + n);
            client.setDaemon(true);
            client.start();
        }
        End.ready();
    }

    private static void fill() throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute("create table sale(name varchar, amount bigint)");
            statement.execute("insert into sale select 'article ' || mod(x, 100), x from system_range(1, 50000)");
        }
    }

    private static void order(String address, int first) {
        try {
            for (int article = first; true; article = (article + 1) % 100) {
                try (InputStream answer = URI.create(address + article).toURL().openStream()) { // OTHER
                    answer.readAllBytes(); // OTHER
                } // OTHER
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static class Orders extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            try {
                response.getWriter().println(price(request.getParameter("article")));
            } catch (SQLException e) {
                throw new IOException(e);
            }
        }

        private static long price(String article) throws SQLException {
            synchronized (PRICES) { // FAULT shop
                return sum(article); // FAULT shop
            }
        }

        private static long sum(String article) throws SQLException {
            String text = "select sum(amount) from sale where name like ?";
            try (PreparedStatement find = connection.prepareStatement(text)) { // ALSO shop
                find.setString(1, "%" + article); // ALSO shop
                try (ResultSet rows = find.executeQuery()) { // ALSO shop
                    rows.next(); // ALSO shop
                    return rows.getLong(1); // ALSO shop
                } // ALSO shop
            } // ALSO shop
        }
    }
}

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/**
 * A service: Tomcat in front of H2 in memory. `GET /order?id=N` reads an order and its lines and
 * answers `order N total T`, where T is a known function of N. The program prints its process id
 * and its port, and at the end of standard input the number of answered requests. Argument: a
 * working folder.
 */
public final class Service extends HttpServlet {
    private static final long serialVersionUID = 1;
    private static final int ORDERS = 1000;
    private static final String URL = "jdbc:h2:mem:service;DB_CLOSE_DELAY=-1";
    private static final AtomicLong ANSWERED = new AtomicLong();
    private static final ThreadLocal<Connection> CONNECTION = new ThreadLocal<>();

    public static void main(String[] args) throws Exception {
        Logger.getLogger("org.apache").setLevel(Level.OFF);
        fill();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(args[0]);
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
        Context context = tomcat.addContext("", args[0]);
        Tomcat.addServlet(context, "order", new Service());
        context.addServletMappingDecoded("/order", "order");
        tomcat.start();
        System.out.println("pid " + ProcessHandle.current().pid());
        System.out.println("port " + tomcat.getConnector().getLocalPort());
        while (System.in.read() >= 0) {
            // Wait for the end of standard input.
        }
        System.out.println("answered " + ANSWERED.get());
        Runtime.getRuntime().halt(0);
    }

    private static void fill() throws SQLException {
        Connection connection = DriverManager.getConnection(URL);
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table line (id int, part int, price bigint)");
            statement.execute("create index by_id on line (id)");
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into line values (?, ?, ?)")) {
            for (int id = 0; id < ORDERS; id++) {
                for (int part = 0; part < 5; part++) {
                    insert.setInt(1, id);
                    insert.setInt(2, part);
                    insert.setLong(3, price(id, part));
                    insert.execute();
                }
            }
        }
    }

    static long price(int id, int part) {
        return id * 10L + part;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int id = Integer.parseInt(request.getParameter("id"));
        try {
            long total = total(id);
            response.setContentType("text/plain");
            response.getWriter().print("order " + id + " total " + total);
        } catch (SQLException e) {
            throw new IOException(e);
        }
        ANSWERED.incrementAndGet();
    }

    static long total(int id) throws SQLException {
        Connection connection = CONNECTION.get();
        if (connection == null) {
            connection = DriverManager.getConnection(URL);
            CONNECTION.set(connection);
        }
        long total = 0;
        try (PreparedStatement query = connection.prepareStatement("select part, price from line where id = ? order by part")) {
            query.setInt(1, id);
            try (ResultSet rows = query.executeQuery()) {
                while (rows.next()) {
                    total += rows.getLong(2) + rows.getInt(1);
                }
            }
        }
        return total;
    }
}

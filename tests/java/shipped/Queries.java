import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A JDBC program. The comments state the results of the SQL plan for one run. */
public class Queries {
    static int run(Connection connection) throws SQLException {
        int sum = 0;
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table item (id int, price int)"); // 1
        }
        for (int i = 0; i < 20; i++) {
            try (PreparedStatement insert = connection.prepareStatement("insert into item values (?, ?)")) {
                insert.setInt(1, i);
                insert.setInt(2, i * i);
                sum += insert.executeUpdate(); // 20
            }
        }
        try (PreparedStatement one = connection.prepareStatement("select price from item where id = ?");
                PreparedStatement all = connection.prepareStatement("select sum(price) from item")) {
            for (int i = 0; i < 7; i++) {
                try (ResultSet rows = all.executeQuery()) { // 7
                    rows.next();
                    sum += rows.getInt(1);
                }
            }
            one.setInt(1, 3);
            try (ResultSet rows = one.executeQuery()) { // 1 that was prepared earlier
                rows.next();
                sum += rows.getInt(1);
            }
        }
        try (Statement statement = connection.createStatement()) {
            for (int i = 0; i < 3; i++) {
                try {
                    statement.executeQuery("select nothing from nowhere"); // none: it fails
                } catch (SQLException e) {
                    sum++;
                }
            }
            sum += statement.executeUpdate("update item set price = 0 where id < 5"); // 1
            statement.execute("drop table item"); // 1
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        try (Connection connection = DriverManager.getConnection(args[0])) {
            if (args.length > 1) {
                System.out.println("sum " + run(connection));
                return;
            }
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
                System.out.println("sum " + run(connection));
            }
        }
    }
}

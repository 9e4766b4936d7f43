import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;

/**
 * A mixed load on an H2 database in memory: point queries, joins, aggregates, inserts, updates,
 * deletes, transactions that are rolled back. Each round restores the database.
 *
 * <p>Arguments: the number of orders per round.
 */
public final class Shop implements Work {
    private static final int CUSTOMERS = 400;
    private static final int PRODUCTS = 120;
    private final int orders;
    private final Connection connection;

    public Shop(String[] args) throws SQLException {
        orders = Integer.parseInt(args[0]);
        connection = DriverManager.getConnection("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1", "sa", "");
        run("create table customer(id int primary key, name varchar(40) not null, town varchar(20))");
        run("create table product(id int primary key, name varchar(40), price int, stock int)");
        run("create table purchase(id int primary key, customer int references customer(id), state char(1))");
        run("create table line(purchase int, product int, amount int, primary key(purchase, product))");
        run("create index by_customer on purchase(customer)");
        run("create index by_product on line(product)");
        String[] towns = {"Kiel", "Ulm", "Bonn", "Jena", "Trier", "Essen", "Halle"};
        for (int i = 0; i < CUSTOMERS; i++) {
            run("insert into customer values(" + i + ", 'customer " + i * 7919 + "', '" + towns[i % 7] + "')");
        }
        for (int i = 0; i < PRODUCTS; i++) {
            run("insert into product values(" + i + ", 'thing " + (char) ('a' + i % 26) + i + "', " + i * 37 % 1000 + ", 500)");
        }
    }

    @Override
    public long round() throws SQLException {
        Random random = new Random(2003);
        long sum = 0;
        connection.setAutoCommit(false);
        try (PreparedStatement order = connection.prepareStatement("insert into purchase values(?, ?, ?)");
             PreparedStatement line = connection.prepareStatement("insert into line values(?, ?, ?)");
             PreparedStatement less = connection.prepareStatement("update product set stock = stock - ? where id = ?");
             PreparedStatement look = connection.prepareStatement("select name, price, stock from product where id = ?")) {
            for (int i = 0; i < orders; i++) {
                order.setInt(1, i);
                order.setInt(2, random.nextInt(CUSTOMERS));
                order.setString(3, "NPSX".substring(i % 4, i % 4 + 1));
                order.executeUpdate();
                int first = random.nextInt(PRODUCTS);
                for (int k = random.nextInt(4); k >= 0; k--) {
                    int product = (first + k * 31) % PRODUCTS;
                    int amount = 1 + random.nextInt(9);
                    line.setInt(1, i);
                    line.setInt(2, product);
                    line.setInt(3, amount);
                    line.executeUpdate();
                    less.setInt(1, amount);
                    less.setInt(2, product);
                    less.executeUpdate();
                    look.setInt(1, product);
                    sum = sum * 31 + digest(look.executeQuery());
                }
            }
        }
        connection.commit();
        sum = sum * 31 + query("select c.town, sum(l.amount * p.price), count(distinct o.id) from customer c join purchase o on o.customer = c.id "
            + "join line l on l.purchase = o.id join product p on p.id = l.product group by c.town order by c.town");
        sum = sum * 31 + query("select p.name, sum(l.amount) s from product p left join line l on l.product = p.id group by p.id, p.name "
            + "having sum(l.amount) > 20 order by s desc, p.name limit 20");
        sum = sum * 31 + query("select name from customer c where exists (select 1 from purchase o where o.customer = c.id and o.state = 'X') "
            + "and name like '%7%' order by name");
        sum = sum * 31 + run("delete from line where purchase in (select id from purchase where state = 'P')");
        connection.rollback();
        sum = sum * 31 + query("select count(*), sum(amount) from line");
        run("delete from line");
        run("delete from purchase");
        run("update product set stock = 500");
        connection.commit();
        connection.setAutoCommit(true);
        return sum;
    }

    private int run(String statement) throws SQLException {
        try (Statement one = connection.createStatement()) {
            return one.executeUpdate(statement);
        }
    }

    private long query(String query) throws SQLException {
        try (Statement one = connection.createStatement()) {
            return digest(one.executeQuery(query));
        }
    }

    private static long digest(ResultSet rows) throws SQLException {
        try (rows) {
            int columns = rows.getMetaData().getColumnCount();
            long sum = 0;
            while (rows.next()) {
                for (int i = 1; i <= columns; i++) {
                    sum = sum * 31 + String.valueOf(rows.getString(i)).hashCode();
                }
            }
            return sum;
        }
    }
}

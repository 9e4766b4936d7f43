import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Random;

/**
 * A shop in an H2 database in memory: definitions, batches, joins, aggregates, windows,
 * transactions, constraints.
 */
public class Sql {
    private static final int CUSTOMERS = 250, PRODUCTS = 100, ORDERS = 1500;
    private static Connection connection;

    public static void main(String[] args) throws Exception {
        connection = DriverManager.getConnection("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1", "sa", "");
        define();
        fill(new Random(2003));
        for (int round = 1; round <= 2; round++) {
            System.out.println("round " + round);
            query();
            change(round);
            errors();
        }
        connection.close();
    }

    private static void define() throws SQLException {
        run("create table customer(id int primary key, name varchar(40) not null unique, town varchar(20), born date)");
        run("create table product(id int primary key, name varchar(40), price decimal(10,2) check (price >= 0), stock int)");
        run("create table purchase(id int primary key, customer int references customer(id), made timestamp, state char(1))");
        run("create table line(purchase int references purchase(id) on delete cascade, product int references product(id), "
            + "amount int, primary key(purchase, product))");
        run("create index by_town on customer(town)");
        run("create index by_product on line(product, amount)");
        run("create view turnover as select c.town, sum(l.amount * p.price) as total, count(distinct o.id) as orders "
            + "from customer c join purchase o on o.customer = c.id join line l on l.purchase = o.id "
            + "join product p on p.id = l.product group by c.town");
        run("create sequence ticket start with 100 increment by 7");
        run("create alias reverse_text as 'String reverse(String s) { return new StringBuilder(s).reverse().toString(); }'");
    }

    private static void fill(Random random) throws SQLException {
        String[] towns = {"Kiel", "Ulm", "Bonn", "Jena", "Trier", "Essen", "Halle"};
        connection.setAutoCommit(false);
        try (PreparedStatement insert = connection.prepareStatement("insert into customer values(?, ?, ?, ?)")) {
            for (int i = 0; i < CUSTOMERS; i++) {
                insert.setInt(1, i);
                insert.setString(2, "customer-" + Integer.toString(i * 7919, 36));
                insert.setString(3, random.nextInt(10) == 0 ? null : towns[random.nextInt(towns.length)]);
                insert.setString(4, String.format("19%02d-%02d-%02d", random.nextInt(100), 1 + random.nextInt(12), 1 + random.nextInt(28)));
                insert.addBatch();
            }
            System.out.println("customers " + insert.executeBatch().length);
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into product values(?, ?, ?, ?)")) {
            for (int i = 0; i < PRODUCTS; i++) {
                insert.setInt(1, i);
                insert.setString(2, "thing " + (char) ('a' + i % 26) + i);
                insert.setBigDecimal(3, java.math.BigDecimal.valueOf(random.nextInt(100_000), 2));
                insert.setInt(4, random.nextInt(500));
                insert.addBatch();
            }
            System.out.println("products " + insert.executeBatch().length);
        }
        try (PreparedStatement order = connection.prepareStatement("insert into purchase values(?, ?, ?, ?)");
             PreparedStatement line = connection.prepareStatement("merge into line key(purchase, product) values(?, ?, ?)")) {
            for (int i = 0; i < ORDERS; i++) {
                order.setInt(1, i);
                order.setInt(2, random.nextInt(CUSTOMERS));
                order.setString(3, String.format("2003-%02d-%02d %02d:00:00", 1 + random.nextInt(12), 1 + random.nextInt(28), random.nextInt(24)));
                order.setString(4, "NPSX".substring(i % 4, i % 4 + 1));
                order.executeUpdate();
                for (int k = random.nextInt(5); k >= 0; k--) {
                    line.setInt(1, i);
                    line.setInt(2, random.nextInt(PRODUCTS));
                    line.setInt(3, 1 + random.nextInt(9));
                    line.executeUpdate();
                }
            }
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    private static void query() throws Exception {
        show("select * from turnover order by total desc nulls last, town");
        show("select count(*), sum(amount), min(amount), max(amount), avg(cast(amount as double)) from line");
        show("select p.name, sum(l.amount) s from product p left join line l on l.product = p.id group by p.id, p.name "
            + "having sum(l.amount) > 120 order by s desc, p.name limit 8");
        show("select town, name, rank() over (partition by town order by born desc, name) r from customer "
            + "where born between date '1950-01-01' and date '1960-12-31' order by town nulls first, r, name limit 12");
        show("with recursive n(i, f) as (select 1, cast(1 as decimal(38)) union all select i + 1, f * (i + 1) from n where i < 25) select i, f from n where mod(i, 5) = 0");
        show("select extract(month from made) m, state, count(*) c from purchase group by extract(month from made), state order by m, state limit 10");
        show("select c.name, (select count(*) from purchase o where o.customer = c.id) n from customer c "
            + "where exists (select 1 from purchase o join line l on l.purchase = o.id where o.customer = c.id and l.amount = 9) "
            + "order by n desc, c.name limit 5");
        show("select reverse_text(name) from product where name like '%b%' or name regexp '^thing [xyz]' order by 1 limit 6");
        show("select upper(town), listagg(cast(mod(id, 100) as varchar), ',') within group (order by id) from customer where id < 60 group by town order by 1 nulls last");
        digest("select c.id, o.id, l.product, l.amount, p.price * l.amount from customer c join purchase o on o.customer = c.id "
            + "join line l on l.purchase = o.id join product p on p.id = l.product order by 1, 2, 3");
        digest("select a.id, b.id from product a, product b where a.price < b.price and a.stock > b.stock order by 1, 2");
        digest("select o.made, lag(o.id) over (order by o.made, o.id), sum(o.id) over (order by o.made, o.id rows 3 preceding) from purchase o order by 1, 2 nulls first");
        try (PreparedStatement one = connection.prepareStatement("select name, price from product where id = ?")) {
            Digest all = new Digest();
            for (int i = 0; i < 3000; i++) {
                one.setInt(1, i * 37 % (PRODUCTS + 5));
                try (ResultSet rows = one.executeQuery()) {
                    all.add(rows.next() ? rows.getString(1) + rows.getBigDecimal(2) : "none");
                }
            }
            System.out.println("point queries " + all);
        }
    }

    private static void change(int round) throws Exception {
        connection.setAutoCommit(false);
        System.out.println("raised " + run("update product set price = price * 1.1 where mod(id, 3) = " + round % 3));
        Savepoint before = connection.setSavepoint();
        System.out.println("deleted " + run("delete from purchase where state = 'X' and mod(id, 5) = " + round));
        show("select count(*) from line");
        connection.rollback(before);
        show("select count(*) from line");
        System.out.println("stock " + run("update product p set stock = stock + (select coalesce(sum(amount), 0) from line l where l.product = p.id)"));
        show("select next value for ticket, next value for ticket");
        if (round == 2) connection.rollback(); else connection.commit();
        connection.setAutoCommit(true);
        show("select sum(price), sum(stock) from product");
    }

    private static void errors() throws SQLException {
        for (String statement : new String[] {
            "insert into customer values(1, 'double', null, null)", "insert into product values(9999, 'bad', -1, 0)",
            "insert into purchase values(99999, 5555, null, 'N')", "select * from nowhere", "selec 1", "select 1/0", "select cast('x' as int)",
        }) {
            try {
                connection.createStatement().execute(statement);
                System.out.println("no error: " + statement);
            } catch (SQLException e) {
                System.out.println(e.getErrorCode() + " " + e.getSQLState() + " " + e.getClass().getSimpleName());
            }
        }
    }

    private static int run(String statement) throws SQLException {
        try (Statement one = connection.createStatement()) {
            return one.executeUpdate(statement);
        }
    }

    private static void show(String query) throws SQLException {
        try (Statement one = connection.createStatement(); ResultSet rows = one.executeQuery(query)) {
            int columns = rows.getMetaData().getColumnCount();
            while (rows.next()) {
                StringBuilder text = new StringBuilder("  ");
                for (int i = 1; i <= columns; i++) text.append(i == 1 ? "" : " | ").append(rows.getString(i));
                System.out.println(text);
            }
        }
    }

    private static void digest(String query) throws Exception {
        try (Statement one = connection.createStatement(); ResultSet rows = one.executeQuery(query)) {
            int columns = rows.getMetaData().getColumnCount(), count = 0;
            Digest all = new Digest();
            for (; rows.next(); count++) for (int i = 1; i <= columns; i++) all.add(String.valueOf(rows.getObject(i)));
            System.out.println("  " + count + " rows " + all);
        }
    }
}

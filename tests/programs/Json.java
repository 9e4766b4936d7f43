import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import java.io.IOException;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Round trips of object graphs through Jackson: binding, polymorphism, trees, streaming, bad input. */
public class Json {
    enum Colour { RED, GREEN, BLUE }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
    @JsonSubTypes({@JsonSubTypes.Type(value = Disc.class, name = "disc"), @JsonSubTypes.Type(value = Group.class, name = "group")})
    interface Shape { double area(); }

    record Disc(double radius, Colour colour) implements Shape { public double area() { return 3 * radius * radius; } }

    static class Group implements Shape {
        private final List<Shape> members;
        private final Map<Colour, Integer> counts = new EnumMap<>(Colour.class);

        @JsonCreator
        Group(@JsonProperty("members") List<Shape> members) {
            this.members = members;
            for (Shape s : members) if (s instanceof Disc d && d.colour() != null) counts.merge(d.colour(), 1, Integer::sum);
        }

        public List<Shape> getMembers() { return members; }
        public double area() { double sum = 0; for (Shape s : members) sum += s.area(); return sum; }
        @Override public String toString() { return counts + " " + area(); }
    }

    public static class Bean {
        public int number;
        public long[] longs;
        public String someText;
        public BigDecimal money;
        public Map<String, List<Integer>> table = new LinkedHashMap<>();
        public Bean next;
        public Shape shape;
        private byte[] data;
        public byte[] getData() { return data; }
        public void setData(byte[] data) { this.data = data; }
    }

    public static void main(String[] args) throws Exception {
        SimpleModule module = new SimpleModule();
        module.addSerializer(BigDecimal.class, new StdSerializer<>(BigDecimal.class) {
            @Override public void serialize(BigDecimal value, JsonGenerator out, SerializerProvider p) throws IOException { out.writeString(value.toPlainString() + " EUR"); }
        });
        module.addDeserializer(BigDecimal.class, new StdDeserializer<>(BigDecimal.class) {
            @Override public BigDecimal deserialize(JsonParser in, DeserializationContext c) throws IOException { return new BigDecimal(in.getText().split(" ")[0]); }
        });
        for (int variant = 0; variant < 2; variant++) {
            JsonMapper.Builder builder = JsonMapper.builder().addModule(module).configure(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY, true);
            if (variant % 2 == 1) builder.propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).enable(SerializationFeature.INDENT_OUTPUT);
            ObjectMapper mapper = builder.build();
            Digest all = new Digest();
            Random random = new Random(variant);
            long length = 0;
            for (int i = 0; i < 700; i++) {
                String text = mapper.writeValueAsString(bean(random, 4));
                Bean back = mapper.readValue(text, Bean.class);
                String again = mapper.writeValueAsString(back);
                if (!again.equals(text)) System.out.println("differs " + text + " " + again);
                JsonNode tree = mapper.readTree(text);
                change(tree, random);
                byte[] bytes = mapper.writeValueAsBytes(tree);
                Map<String, Object> map = mapper.readValue(bytes, new TypeReference<>() {});
                length += text.length() + bytes.length + map.size();
                all.add(text).add(bytes).add(map.toString()).add(String.valueOf(back.shape));
                if (i == 3) System.out.println(text);
            }
            System.out.println("variant " + variant + " " + length + " " + all);
            streaming(mapper, variant);
        }
        errors(new ObjectMapper());
    }

    private static Bean bean(Random random, int depth) {
        Bean bean = new Bean();
        bean.number = random.nextInt();
        bean.longs = random.longs(random.nextInt(6)).toArray();
        bean.someText = "t\u00e4xt \"" + Integer.toHexString(random.nextInt()) + "\" \n\\ \u2603";
        bean.money = BigDecimal.valueOf(random.nextInt(), 3);
        for (int i = random.nextInt(4); i > 0; i--) bean.table.put("key" + i, random.ints(i, 0, 1000).boxed().toList());
        bean.setData(new byte[] {(byte) random.nextInt(), 2, 3});
        bean.shape = shape(random, 3);
        if (depth > 0 && random.nextInt(3) > 0) bean.next = bean(random, depth - 1);
        return bean;
    }

    private static Shape shape(Random random, int depth) {
        if (depth == 0 || random.nextInt(3) == 0) return new Disc(random.nextInt(1000) / 8.0, random.nextBoolean() ? Colour.values()[random.nextInt(3)] : null);
        List<Shape> members = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) members.add(shape(random, depth - 1));
        return new Group(members);
    }

    private static void change(JsonNode tree, Random random) {
        if (tree instanceof ObjectNode object) {
            object.put("added", random.nextDouble()).putArray("list").add(1).add("two").addNull();
            object.remove("longs");
            JsonNode next = object.get("next");
            if (next != null) change(next, random);
        }
    }

    private static void streaming(ObjectMapper mapper, int variant) throws IOException {
        StringWriter out = new StringWriter();
        try (JsonGenerator generator = mapper.getFactory().createGenerator(out)) {
            generator.writeStartArray();
            for (int i = 0; i < 3000; i++) {
                generator.writeStartObject();
                generator.writeNumberField("n", i * 1e-3 * variant);
                generator.writeStringField("s", "x".repeat(i % 30));
                generator.writeBooleanField("b", i % 3 == 0);
                generator.writeEndObject();
            }
            generator.writeEndArray();
        }
        double sum = 0;
        int[] tokens = new int[JsonToken.values().length];
        try (JsonParser parser = mapper.getFactory().createParser(out.toString())) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                tokens[token.ordinal()]++;
                if (token == JsonToken.VALUE_NUMBER_FLOAT) sum += parser.getDoubleValue();
            }
        }
        System.out.println("  " + out.toString().length() + " " + sum + " " + java.util.Arrays.toString(tokens));
    }

    private static void errors(ObjectMapper mapper) {
        for (String bad : new String[] {"{", "{\"number\": \"x\"}", "{\"unknown\": 1}", "[1,]", "{\"shape\": {\"kind\": \"cube\"}}", "nul", "{\"number\": 99999999999}"}) {
            try {
                mapper.readValue(bad, Bean.class);
                System.out.println("fine: " + bad);
            } catch (JsonProcessingException e) {
                System.out.println(e.getClass().getSimpleName() + " " + e.getLocation().getLineNr() + ":" + e.getLocation().getColumnNr() + " " + e.getOriginalMessage());
            }
        }
    }
}

import java.io.StringReader;
import java.io.StringWriter;
import java.util.Random;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.SAXParserFactory;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamReader;
import javax.xml.transform.ErrorListener;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Templates;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import javax.xml.validation.SchemaFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.Attributes;
import org.xml.sax.InputSource;
import org.xml.sax.SAXParseException;
import org.xml.sax.helpers.DefaultHandler;

/**
 * The JDK's own XML: parsing in three ways, XPath, a schema, and XSLT, which compiles style sheets
 * to bytecode.
 */
public class Transform {
    private static final String STYLE = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:output method='xml' indent='yes'/>"
        + "<xsl:key name='by-town' match='person' use='@town'/><xsl:param name='limit' select='50'/>"
        + "<xsl:template match='/people'><report count='{count(person)}'><xsl:for-each select=\"person[generate-id() = generate-id(key('by-town', @town)[1])]\">"
        + "<xsl:sort select='@town'/><town name='{@town}' total=\"{sum(key('by-town', @town)/age)}\"><xsl:apply-templates select=\"key('by-town', @town)[age &gt; $limit]\">"
        + "<xsl:sort select='age' data-type='number' order='descending'/><xsl:sort select='name'/></xsl:apply-templates></town></xsl:for-each></report></xsl:template>"
        + "<xsl:template match='person'><xsl:variable name='n' select='normalize-space(name)'/><p><xsl:attribute name='id'><xsl:value-of select='position()'/></xsl:attribute>"
        + "<xsl:choose><xsl:when test=\"starts-with($n, 'K')\"><k><xsl:value-of select=\"translate($n, 'abcdefgh', 'ABCDEFGH')\"/></k></xsl:when>"
        + "<xsl:otherwise><xsl:call-template name='stars'><xsl:with-param name='n' select='floor(age div 10)'/></xsl:call-template><xsl:value-of select=\"concat(substring($n, 1, 4), '-', format-number(age * 1.5, '#0.00'))\"/></xsl:otherwise></xsl:choose></p></xsl:template>"
        + "<xsl:template name='stars'><xsl:param name='n'/><xsl:if test='$n &gt; 0'>*<xsl:call-template name='stars'><xsl:with-param name='n' select='$n - 1'/></xsl:call-template></xsl:if></xsl:template>"
        + "</xsl:stylesheet>";
    private static final String SCHEMA = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='people'><xs:complexType><xs:sequence><xs:element name='person' maxOccurs='unbounded'><xs:complexType><xs:sequence>"
        + "<xs:element name='name' type='xs:string'/><xs:element name='age'><xs:simpleType><xs:restriction base='xs:integer'><xs:maxInclusive value='99'/></xs:restriction></xs:simpleType></xs:element><xs:element name='note' type='xs:string' minOccurs='0'/>"
        + "</xs:sequence><xs:attribute name='town' type='xs:NCName' use='required'/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>";

    public static void main(String[] args) throws Exception {
        for (int round = 0; round < 2; round++) {
            String text = people(new Random(round), 700);
            System.out.println("round " + round + " " + text.length() + " " + Digest.of(text));
            Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(text)));
            Templates templates = TransformerFactory.newInstance().newTemplates(new StreamSource(new StringReader(STYLE)));
            for (int limit = 20; limit <= 90; limit += 10) {
                Transformer transformer = templates.newTransformer();
                transformer.setParameter("limit", limit);
                StringWriter out = new StringWriter();
                transformer.transform(limit % 20 == 0 ? new DOMSource(document) : new StreamSource(new StringReader(text)), new StreamResult(out));
                System.out.println("  limit " + limit + " " + out.toString().length() + " " + Digest.of(out.toString()));
                if (limit == 90) System.out.println(out.toString().lines().skip(1).limit(5).reduce("", (a, b) -> a + b + "\n"));
            }
            paths(document);
            stream(text);
            validate(text, round);
        }
        errors();
    }

    private static String people(Random random, int count) {
        StringBuilder text = new StringBuilder("<?xml version='1.0'?>\n<!DOCTYPE people [<!ENTITY who 'Somebody &amp; Co'>]>\n<people>\n");
        for (int i = 0; i < count; i++) {
            text.append("<person town='").append("ABCDEFGHIJ".charAt(random.nextInt(10))).append("town'><name> ").append(random.nextInt(5) == 0 ? "&who;" : "K" + Integer.toString(random.nextInt(99999), 36))
                .append(" </name><age>").append(random.nextInt(100)).append("</age>").append(random.nextInt(4) == 0 ? "<note><![CDATA[a < b & c]]>&#x263A;</note>" : "").append("</person>\n");
        }
        return text.append("</people>").toString();
    }

    private static void paths(Document document) throws Exception {
        for (String path : new String[] {"count(//person[age > 50]/note)", "sum(/people/person[@town='Atown']/age)", "string(/people/person[last()]/name)",
            "//person[position() mod 100 = 1]/@town", "/people/person[contains(name, 'z')]/following-sibling::person[1]/age/text()", "boolean(//none)"}) {
            var xpath = XPathFactory.newInstance().newXPath();
            if (path.startsWith("/")) {
                NodeList nodes = (NodeList) xpath.evaluate(path, document, XPathConstants.NODESET);
                Digest all = new Digest();
                for (int i = 0; i < nodes.getLength(); i++) all.add(nodes.item(i).getNodeValue());
                System.out.println("  " + path + ": " + nodes.getLength() + " " + all);
            } else {
                System.out.println("  " + path + ": " + xpath.evaluate(path, document));
            }
        }
    }

    private static void stream(String text) throws Exception {
        XMLStreamReader reader = XMLInputFactory.newInstance().createXMLStreamReader(new StringReader(text));
        int[] kinds = new int[20];
        while (reader.hasNext()) kinds[reader.next()]++;
        System.out.println("  events " + java.util.Arrays.toString(kinds));
        int[] elements = new int[2];
        SAXParserFactory.newInstance().newSAXParser().parse(new InputSource(new StringReader(text)), new DefaultHandler() {
            @Override public void startElement(String uri, String local, String name, Attributes attributes) { elements[0]++; elements[1] += attributes.getLength(); }
        });
        System.out.println("  elements " + elements[0] + " attributes " + elements[1]);
    }

    private static void validate(String text, int round) throws Exception {
        var schema = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI).newSchema(new StreamSource(new StringReader(SCHEMA)));
        String given = round % 2 == 0 ? text : text.replaceFirst("<age>", "<age>1");
        try {
            schema.newValidator().validate(new StreamSource(new StringReader(given)));
            System.out.println("  valid");
        } catch (SAXParseException e) {
            System.out.println("  " + e.getLineNumber() + ":" + e.getColumnNumber() + " " + e.getMessage());
        }
    }

    private static void errors() throws Exception {
        for (String bad : new String[] {"<a><b></a>", "<a x='1' x='2'/>", "<a>&none;</a>", "<a", ""}) {
            try {
                Transformer identity = TransformerFactory.newInstance().newTransformer();
                identity.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, "yes");
                identity.setErrorListener(new ErrorListener() {
                    public void warning(TransformerException e) {}
                    public void error(TransformerException e) {}
                    public void fatalError(TransformerException e) throws TransformerException { throw e; }
                });
                identity.transform(new StreamSource(new StringReader(bad)), new StreamResult(new StringWriter()));
                System.out.println("fine: " + bad);
            } catch (TransformerException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}

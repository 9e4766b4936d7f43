// Closures, categories, traits, builders, the meta-object protocol, operators, GStrings, exceptions.
import groovy.transform.*

@Immutable class Point { int x, y; Point plus(Point o) { new Point(x + o.x, y + o.y) } }
@ToString(includeNames = true) @EqualsAndHashCode @TupleConstructor class Item { String name; BigDecimal price; List<String> tags = [] }
trait Named { String name = 'nobody'; String greet() { "I am ${name.toUpperCase()}" } }
class Robot implements Named { def methodMissing(String n, args) { "$n(${args.join(',')})" } ; def propertyMissing(String n) { "no $n" } }
@CompileStatic class Fast { static long collatz(long n) { long steps = 0; while (n != 1) { n = (n & 1) == 0 ? n >> 1 : 3 * n + 1; steps++ }; steps } }
@Memoized long fib(int n) { n < 2 ? n : fib(n - 1) + fib(n - 2) }

println "round $round"
println((1..20).collect { it * it }.findAll { it % 3 == 1 }.inject(0) { a, b -> a + b })
println((new Point(1, 2) + new Point(3, 4)).toString())
def items = (1..40).collect { new Item("item$it", (it * 17 % 23) / 4, it % 2 ? ['odd'] : ['even', "by${it % 5}".toString()]) }
println items.groupBy { it.tags[0] }.collectEntries { k, v -> [k, v*.price.sum()] }
println items.sort(false) { a, b -> b.price <=> a.price ?: a.name <=> b.name }.take(4)
def robot = new Robot(name: 'robbie')
println "${robot.greet()} ${robot.dance(1, 'two')} ${robot.colour}"
String.metaClass.shout = { -> delegate.toUpperCase() + '!' }
println 'hello'.shout()
println fib(30)
println((1..3000).collect { Fast.collatz(it as long) }.max())
new groovy.util.NodeBuilder().with { root = shop(town: 'Kiel') { (1..5).each { n -> thing(id: n) { price(n * 1.5) } } } }
println root.thing.findAll { it.@id > 2 }.collect { it.price.text() }
def words = 'the quick brown fox jumps over the lazy dog and the cat'.split(' ')
println words.countBy { it.size() }.sort()
println words.collect { w -> w.replaceAll(/[aeiou]/) { m -> "<$m>" } }.join(' ')
def curried = { a, b, c -> a * 100 + b * 10 + c }.curry(7).rcurry(9)
println curried(8)
def primes = (2..2500).findAll { n -> (2..Math.sqrt(n)).every { d -> d >= n || n % d } }
println "${primes.size()} ${primes[-1]} ${primes.sum()}"
println([[1, 2], [3, [4, 5]]].flatten().permutations().size())
def matrix = (0..<30).collect { i -> (0..<30).collect { j -> (i * j + i) % 7 } }
def product = matrix.collect { row -> matrix.transpose().collect { col -> [row, col].transpose().sum { a, b = null -> a[0] * a[1] } } }
println product.flatten().sum()
try { assert items.size() == 41 : 'there are forty' } catch (AssertionError e) { println e.message.readLines()[0] }
try { null.foo() } catch (NullPointerException e) { println e.message }
try { robot.name = 5 ; println robot.name } catch (e) { println e.class.simpleName }
try { 'x'.noSuchMethod(1) } catch (MissingMethodException e) { println e.method }
switch (round) { case 0: println 'zero'; break; case 1..3: println 'few'; break; case Integer: println 'many' }
def out = new StringWriter(); out << 'a' << 1 << [2, 3]; println out
println 12345.6789G.setScale(2, java.math.RoundingMode.HALF_UP) + 1.0e-3
def (a, b, c) = [1, 2]; println "$a $b $c"
println([x: 1, y: [z: 2]].with { it.y?.z ?: it.q?.r })
round * 1000 + primes.size()

# Features of Ruby that JRuby compiles to class files (without fibers).
def fib(n)
  n < 2 ? n : fib(n - 1) + fib(n - 2)
end

class Stack
  include Enumerable

  def initialize
    @items = []
  end

  def push(item)
    @items << item
    self
  end

  def each
    @items.each { |item| yield item }
  end
end

def guarded(n)
  raise ArgumentError, "no #{n}" if n % 3 == 0
  Integer("x") if n % 5 == 0
  n
rescue ArgumentError => e
  e.message.length
ensure
  $ensured = ($ensured || 0) + 1
end

stack = Stack.new
30.times { |i| stack.push((i * 7) % 13) }
puts stack.sort.inspect, stack.select(&:even?).inject(:+), stack.min_by { |x| -x }
puts (0...40).map { |n| guarded(n) }.inspect
puts "ensured #{$ensured}"
found = catch(:done) do
  100.times { |i| (0..i).each { |j| throw :done, [i, j] if i * j > 200 } }
  nil
end
puts found.inspect
puts %w[the quick brown fox jumps over the lazy dog the].each_with_object(Hash.new(0)) { |w, h| h[w] += 1 }.sort.inspect
case [1, "two", :three]
when Array then puts "an array"
else puts "something else"
end
compose = ->(f, g) { ->(x) { g.(f.(x)) } }
puts compose.(->(x) { x + 1 }, ->(x) { x * 2 }).(20)
fib(17)

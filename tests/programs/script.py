# Generators, try/finally in all forms, closures, classes: Jython's code for these has many merges
# and handlers.
import re


def numbers(n):
    i = 0
    try:
        while i < n:
            try:
                sent = yield i
                if sent is not None:
                    i += sent
            finally:
                i += 1
    except GeneratorExit:
        print 'closed at', i
        raise
    else:
        print 'done at', i


def leaves(kind, log):
    for turn in range(4):
        try:
            try:
                if kind == 'return':
                    return turn
                if kind == 'continue':
                    continue
                if kind == 'break':
                    break
                if kind == 'raise':
                    raise ValueError(kind)
                log.append(turn)
            finally:
                log.append(kind)
        except ValueError, e:
            log.append(str(e))
        else:
            log.append('else')
    return -1


class Shape(object):
    count = 0

    def __init__(self, *sides, **named):
        Shape.count += 1
        self.sides = sides
        self.named = named

    def area(self):
        return reduce(lambda a, b: a * b, self.sides, 1)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return kind is KeyError


def tree(n):
    if n > 0:
        for x in tree(n - 1):
            yield x * 2
        yield n
        for x in tree(n - 1):
            yield x * 2 + 1


generator = numbers(20)
print [next(generator) for _ in range(5)], generator.send(3)
generator.close()
print list(numbers(6))
for kind in ['none', 'return', 'continue', 'break', 'raise']:
    log = []
    print kind, leaves(kind, log), log
print sum(tree(12)), len(list(tree(9)))
with Shape(2, 3, name='box') as box:
    {}['no such key']
print box.area(), box.named, Shape.count
print re.sub('a', 'b', 'banana'), re.findall(r'(\w)(\d+)', 'a1 b22 c333')
words = {}
for word in ('the cat and the dog and the bird ' * 200).split():
    words[word] = words.get(word, 0) + 1
print sorted(words.items())
total = 0
for i in xrange(30000):
    try:
        if i % 7 == 0:
            raise KeyError(i)
        total += i
    except KeyError, e:
        total -= e.args[0]
    finally:
        total ^= 1
print total
exec 'print [x ** 2 for x in range(5) if x % 2]'

function print(x) { out.println(String(x)); }
function Vec(x, y, z) { this.x = x; this.y = y; this.z = z; }
Vec.prototype = {
  add: function (o) { return new Vec(this.x + o.x, this.y + o.y, this.z + o.z); },
  dot: function (o) { return this.x * o.x + this.y * o.y + this.z * o.z; },
  scale: function (f) { return new Vec(this.x * f, this.y * f, this.z * f); },
  toString: function () { return '(' + [this.x, this.y, this.z].join(', ') + ')'; }
};
var seed = 49734321;
function random() { seed = ((seed + 0x7ed55d16) + (seed << 12)) & 0xffffffff; seed = ((seed ^ 0xc761c23c) ^ (seed >>> 19)) & 0xffffffff; return (seed & 0xfffffff) / 0x10000000; }
function bodies(n) {
  var all = [];
  for (var i = 0; i < 5; i++) all.push({ at: new Vec(random(), random(), random()), v: new Vec(0, 0, 0), m: random() });
  for (var step = 0; step < n; step++) for (var i = 0; i < 5; i++) {
    var b = all[i], f = new Vec(0, 0, 0);
    for (var j = 0; j < 5; j++) if (i !== j) { var d = all[j].at.add(b.at.scale(-1)); f = f.add(d.scale(all[j].m / (d.dot(d) + 0.1))); }
    b.v = b.v.add(f.scale(0.01)); b.at = b.at.add(b.v.scale(0.01));
  }
  return all[0].at + ' ' + all[4].v;
}
print(bodies(400));
function Heap() { this.a = []; }
Heap.prototype.push = function (x) { var a = this.a, i = a.push(x) - 1; while (i > 0 && a[(i - 1) >> 1] > a[i]) { var p = (i - 1) >> 1, t = a[p]; a[p] = a[i]; a[i] = t; i = p; } };
Heap.prototype.pop = function () { var a = this.a, top = a[0], last = a.pop(); if (a.length) { a[0] = last; for (var i = 0; ;) { var c = 2 * i + 1; if (c >= a.length) break; if (c + 1 < a.length && a[c + 1] < a[c]) c++; if (a[i] <= a[c]) break; var t = a[i]; a[i] = a[c]; a[c] = t; i = c; } } return top; };
var heap = new Heap(), sum = 0;
for (var i = 0; i < 3000; i++) { heap.push(Math.floor(random() * 10000)); if (i % 3 === 2) sum = (sum * 31 + heap.pop()) % 1000003; }
print(sum);
var text = 'It was the best of times, it was the worst of times';
print(text.replace(/(\w+) of (\w+)/g, function (m, a, b) { return b.toUpperCase() + '-' + a; }) + ' ' + text.split(/\W+/).sort().join());
var counts = {}; text.toLowerCase().split('').forEach(function (c) { counts[c] = (counts[c] || 0) + 1; });
print(JSON.stringify(counts) + ' ' + JSON.stringify(JSON.parse('{"a":[1,2,{"b":null}],"c":"\\u00e9"}')));
function trying(f) { try { return f(); } catch (e) { return e.name + ': ' + e.message; } finally { sum++; } }
print([trying(function () { return null.x; }), trying(function () { undefinedFunction(); }), trying(function () { throw new TypeError('mine'); }), trying(function () { return 5; }), sum].join(' | '));
let squares = [1, 2, 3, 4].map(x => x * x).filter(x => x % 2 === 0); const [first, second] = squares;
print(squares + ' ' + first + ' ' + second + ' ' + [3, 1, 2].sort((a, b) => b - a));
function queens(n) { var count = 0; (function place(row, cols, d1, d2) { if (row === n) { count++; return; } for (var c = 0; c < n; c++) if (!(cols & 1 << c) && !(d1 & 1 << row + c) && !(d2 & 1 << row - c + n)) place(row + 1, cols | 1 << c, d1 | 1 << row + c, d2 | 1 << row - c + n); })(0, 0, 0, 0); return count; }
print(queens(7));
var list = new java.util.ArrayList(); for (var k in { x: 1, y: 2, z: 3 }) list.add(k); print(list + ' ' + java.lang.Integer.toHexString(255));
switch (typeof print) { case 'function': print('a function'); break; default: print('?'); }
label: for (var i = 0; i < 10; i++) for (var j = 0; j < 10; j++) { if (j === 5) continue label; if (i === 3) break label; sum += i * j; }
print(sum + ' ' + (0.1 + 0.2).toFixed(10) + ' ' + (255).toString(16) + ' ' + parseInt('077', 8) + ' ' + new Date(0).getTime() + ' ' + isNaN(+'x'));
var g = (function* () { for (var i = 0; i < 4; i++) yield i * i; })(); var taken = []; for (var v of g) taken.push(v); print(taken);
'last ' + sum;

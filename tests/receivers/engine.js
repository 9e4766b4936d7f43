// Runs the browser build of Perfetto's trace processor in Node.js. Requests are read from standard
// input, answers are written to standard output. Both are streams of `TraceProcessorRpcStream`
// (protos/perfetto/trace_processor/trace_processor.proto).
//
//     node engine.js FOLDER      the folder with engine_bundle.js and trace_processor.wasm
//
// A browser runs engine_bundle.js in a worker and passes it a port. This program simulates both.

const fs = require("fs");
const path = require("path");

const folder = process.argv[2];

// The globals of a worker.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
globalThis.importScripts = () => {};
globalThis.location = { href: "http://localhost/engine_bundle.js" };
const warn = (...words) => process.stderr.write(words.join(" ") + "\n");
console.log = console.warn = console.error = warn;
globalThis.XMLHttpRequest = class {
  open(_, name) {
    this.file = path.join(folder, path.basename(name));
  }
  send() {
    const bytes = fs.readFileSync(this.file);
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  }
};

// Hide Node.js from the bundle, because it would otherwise not behave as in a browser.
const node = globalThis.process;
const source = fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8");
new Function("process", "require", source)(undefined, undefined);

const port = {
  postMessage: (answer) => fs.writeSync(1, answer),
};
self.onmessage({ data: port });

// The module is compiled in the background. Requests wait until it is ready.
const waiting = [];
let ready = false;
const deliver = (bytes) => port.onmessage({ data: new Uint8Array(bytes) });
node.stdin.on("data", (bytes) => (ready ? deliver(bytes) : waiting.push(bytes)));
node.stdin.on("end", () => node.exit(0));
setTimeout(function look() {
  try {
    // An empty stream has no effect. It fails until the module is ready.
    deliver(new Uint8Array(0));
    ready = true;
    waiting.forEach(deliver);
  } catch (error) {
    setTimeout(look, 50);
  }
}, 500);

// Draws a graph with Graphviz, in the WebAssembly build of the package @viz-js/viz.
//
//     node graphviz.js FOLDER FILE      the folder of the package; a graph in the DOT language
//
// The drawing (SVG) goes to standard output. An error or a warning of Graphviz ends the program
// with code 1.

const fs = require("fs");
const path = require("path");

const [folder, file] = process.argv.slice(2);
const viz = require(path.join(folder, "dist/viz.cjs"));

viz.instance().then((graphviz) => {
  const result = graphviz.render(fs.readFileSync(file, "utf8"), { format: "svg" });
  if (result.status !== "success" || result.errors.length > 0) {
    console.error(JSON.stringify(result.errors));
    process.exit(1);
  }
  fs.writeSync(1, result.output);
});

// Draws a graph with Graphviz, in the WebAssembly build of the package @viz-js/viz.
//
//     node graphviz.js FOLDER FILE      the folder of the package; a graph in the DOT language
//
// The drawing (SVG) goes to standard output. An error of Graphviz ends the program with code 1.
// This build has no fonts, and warns that it estimates the width of characters beyond ASCII. Any other
// warning counts as an error.

const fs = require("fs");
const path = require("path");

const [folder, file] = process.argv.slice(2);
const viz = require(path.join(folder, "dist/viz.cjs"));

viz.instance().then((graphviz) => {
  const result = graphviz.render(fs.readFileSync(file, "utf8"), { format: "svg" });
  const isAboutFonts = (error) => error.message.includes("no value for width of non-ASCII");
  const errors = result.errors.filter((error) => !isAboutFonts(error));
  if (result.status !== "success" || errors.length > 0) {
    console.error(JSON.stringify(errors));
    process.exit(1);
  }
  fs.writeSync(1, result.output);
});

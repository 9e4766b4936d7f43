// The tables of a calls profile.

export { Butterfly } from "./butterfly.js";
export { CallTree } from "./call-tree.js";
export { HotMethods } from "./hot-methods.js";
export { PackageGraph } from "./package-graph.js";

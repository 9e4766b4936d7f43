/** Reads only java.base, and exports nothing. */
module guests {
}

/** Reads nothing but java.base, and gives nothing away. */
module guests {
}

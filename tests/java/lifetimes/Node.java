/** An object of a list. */
class Node {
    final int number;
    Node next;

    Node(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }
}

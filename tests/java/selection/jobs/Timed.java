package jobs;

/** Below it, and above most classes here. */
public interface Timed extends Task {
}

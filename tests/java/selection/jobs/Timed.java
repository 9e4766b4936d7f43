package jobs;

/** A subtype of Task, and a supertype of most classes here. */
public interface Timed extends Task {
}

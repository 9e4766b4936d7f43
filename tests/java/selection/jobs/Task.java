package jobs;

/** The interface that `jobs.Task+` names. */
public interface Task {
    int run(int n);
}

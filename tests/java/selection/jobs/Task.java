package jobs;

/** What is asked for by `jobs.Task+`. */
public interface Task {
    int run(int n);
}

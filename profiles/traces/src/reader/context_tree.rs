//! Reads the calling-context tree of a thread.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::TraceError;
use crate::format::context_node::{
    ALLOCATIONS, CALLS, CONTEXTS_PREFIX, CONTEXTS_SUFFIX, HAS_CPU, IS_LATE, KEY, MAGIC, NODE_WORDS,
    OFF_CPU, OVERFLOW_CALLS, OVERFLOW_OFFSET, OVERFLOW_WALL, OVERFLOW_WORDS, ROOT_END,
    ROOT_VERSION, START, SUBMISSIONS_FILE, TASK, VERSION, WALL,
};

/// A node of the tree of a thread. Times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextNode {
    /// The position of the parent in [`ContextTree::nodes`], which is smaller than that of the node.
    pub parent: usize,
    /// The id of the method; 0 for the root, and for tasks.
    pub method: u64,
    /// The number of the submission of the tasks, if the node is that of tasks.
    pub submission: Option<usize>,
    /// The number of calls that began.
    pub calls: u64,
    /// The time of the calls, callees included. A call that had not ended counts until the end of
    /// the recording.
    pub wall: u64,
    /// Whether a call had not ended.
    pub is_open: bool,
    /// The number of allocations, callees excluded.
    pub allocations: u64,
    /// The time, callees excluded, during which the thread did not run on a processor.
    pub off_cpu: u64,
    /// The number of calls below this node that found no room for a node.
    pub overflow_calls: u64,
    /// The time of these calls.
    pub overflow_wall: u64,
}

/// The context in which tasks were submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// The number of the thread; 0 if the context is not known.
    pub thread: u32,
    /// The position of the node in the tree of this thread.
    pub node: usize,
}

/// The processor times of a node, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTimes {
    /// With children and overflow.
    pub all: u64,
    /// Without children and overflow.
    pub own: u64,
    /// The part of the calls that found no room for a node.
    pub overflow: u64,
}

/// The tree of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextTree {
    /// The number of the thread in the trace.
    pub thread: u32,
    /// Whether the thread began before the recording, so that calls can be missing above the roots.
    pub is_late: bool,
    /// Whether the recorder noted when the thread did not run on a processor.
    pub has_cpu: bool,
    /// Whether the recorder completed the tree. Otherwise the JVM was killed, and calls that had not
    /// ended count until the latest entry.
    pub is_complete: bool,
    /// Whether the rest of the file was not read, because a node is damaged.
    pub is_damaged: bool,
    /// The nodes. The first one is the root, which has no calls of its own.
    pub nodes: Vec<ContextNode>,
}

impl ContextTree {
    /// The time of a node without its children, in ticks.
    pub fn self_times(&self) -> Vec<u64> {
        let mut own: Vec<u64> = self.nodes.iter().map(|node| node.wall).collect();
        for (position, node) in self.nodes.iter().enumerate() {
            own[position] = own[position].saturating_sub(node.overflow_wall);
            if position > 0 {
                own[node.parent] = own[node.parent].saturating_sub(node.wall);
            }
        }
        own
    }

    /// The processor times of the nodes, in ticks, by the times of [`ContextTree::self_times`]. All are 0
    /// if they are not known.
    pub fn processor_times(&self, own: &[u64]) -> Vec<ProcessorTimes> {
        let mut times = vec![ProcessorTimes::default(); self.nodes.len()];
        if !self.has_cpu {
            return times;
        }
        // The children of a node are behind it.
        for (position, node) in self.nodes.iter().enumerate().rev() {
            let own = own.get(position).copied().unwrap_or(0);
            let used = own.saturating_add(node.overflow_wall);
            let used = used.saturating_sub(node.off_cpu);
            let one = &mut times[position];
            // It is not known whether the thread waited in the node or in its overflow.
            one.own = used.min(own);
            one.overflow = used - one.own;
            one.all = one.all.saturating_add(used);
            let all = one.all;
            if position > 0 {
                let parent = &mut times[node.parent];
                parent.all = parent.all.saturating_add(all);
            }
        }
        times
    }

    /// Reads the trees of all threads in a directory, by the number of the thread.
    ///
    /// # Errors
    /// `NotAContextTree` if a file has another form, `FutureTrace` if a later version wrote it, `TraceIo` if
    /// it cannot be read.
    pub fn read_all(directory: &Path) -> Result<Vec<ContextTree>, TraceError> {
        let mut files: Vec<(u32, PathBuf)> = Vec::new();
        let entries = fs::read_dir(directory).map_err(|e| TraceError::io(directory, e))?;
        for entry in entries {
            let path = entry.map_err(|e| TraceError::io(directory, e))?.path();
            let name = path.file_name().map(|name| name.to_string_lossy());
            let number = name.as_deref().and_then(|name| {
                let number = name.strip_prefix(CONTEXTS_PREFIX)?;
                number.strip_suffix(CONTEXTS_SUFFIX)?.parse().ok()
            });
            if let Some(number) = number {
                files.push((number, path));
            }
        }
        files.sort();
        let read = |(number, path): (u32, PathBuf)| ContextTree::read(&path, number);
        files.into_iter().map(read).collect()
    }

    /// Reads the contexts in which tasks were submitted, by the numbers in [`ContextNode::submission`].
    /// Without tasks there are none.
    ///
    /// # Errors
    /// `TraceIo` if the file cannot be read.
    pub fn read_submissions(directory: &Path) -> Result<Vec<Submission>, TraceError> {
        let path = directory.join(SUBMISSIONS_FILE);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| TraceError::io(&path, error))?,
        };
        let (words, _) = bytes.as_chunks::<8>();
        let submission = |word: &[u8; 8]| {
            let word = u64::from_le_bytes(*word);
            Submission {
                thread: (word >> 32) as u32,
                node: (word & 0xffff_ffff) as usize,
            }
        };
        Ok(words.iter().map(submission).collect())
    }

    /// Reads the tree of one thread.
    ///
    /// # Errors
    /// As for [`ContextTree::read_all`].
    pub fn read(path: &Path, thread: u32) -> Result<ContextTree, TraceError> {
        let io = |error| TraceError::io(path, error);
        let mut input = BufReader::new(File::open(path).map_err(io)?);
        let mut tree = ContextTree {
            thread,
            ..ContextTree::default()
        };
        let mut starts = Vec::new();
        let mut end = 0;
        while let Some(words) = next_words::<NODE_WORDS>(&mut input).map_err(io)? {
            let node = match tree.nodes.len() {
                0 => {
                    if words[KEY] != MAGIC {
                        return Err(TraceError::NotAContextTree(path.to_path_buf()));
                    }
                    let version = words[ROOT_VERSION] & 0xffff_ffff;
                    if version != VERSION {
                        let version = u16::try_from(version).unwrap_or(u16::MAX);
                        return Err(TraceError::FutureVersion {
                            path: path.to_path_buf(),
                            major: version,
                            minor: 0,
                        });
                    }
                    tree.is_late = words[ROOT_VERSION] & IS_LATE != 0;
                    tree.has_cpu = words[ROOT_VERSION] & HAS_CPU != 0;
                    end = words[ROOT_END];
                    tree.is_complete = end != 0;
                    starts.push(0);
                    ContextNode::default()
                }
                _ if words[KEY] == 0 => break,
                count => {
                    let parent = (words[KEY] >> 32) as usize;
                    let method = words[KEY] & 0xffff_ffff;
                    if parent >= count || method == 0 {
                        tree.is_damaged = true;
                        break;
                    }
                    starts.push(words[START]);
                    let is_task = method & TASK != 0;
                    ContextNode {
                        parent,
                        method: if is_task { 0 } else { method - 1 },
                        submission: is_task.then_some((method & (TASK - 1)) as usize),
                        calls: words[CALLS],
                        wall: words[WALL],
                        is_open: words[START] != 0,
                        ..ContextNode::default()
                    }
                }
            };
            tree.nodes.push(ContextNode {
                allocations: match node.submission {
                    Some(_) => 0,
                    None => words[ALLOCATIONS],
                },
                off_cpu: words[OFF_CPU],
                ..node
            });
        }
        if tree.nodes.is_empty() {
            return Err(TraceError::NotAContextTree(path.to_path_buf()));
        }
        input.seek(SeekFrom::Start(OVERFLOW_OFFSET)).map_err(io)?;
        tree.read_overflow(&mut input).map_err(io)?;
        tree.close_open_calls(&starts, end);
        Ok(tree)
    }

    /// Reads the calls that found no room for a node. A file that ends before them has none.
    fn read_overflow(&mut self, input: &mut impl Read) -> std::io::Result<()> {
        for node in &mut self.nodes {
            let Some(words) = next_words::<OVERFLOW_WORDS>(input)? else {
                break;
            };
            node.overflow_calls = words[OVERFLOW_CALLS];
            node.overflow_wall = words[OVERFLOW_WALL];
        }
        Ok(())
    }

    /// Adds the time of calls that had not ended.
    fn close_open_calls(&mut self, starts: &[u64], end: u64) {
        let latest = starts.iter().copied().max().unwrap_or(0);
        let end = if end == 0 { latest } else { end };
        for (node, start) in self.nodes.iter_mut().zip(starts) {
            if node.is_open {
                node.wall = node.wall.saturating_add(end.saturating_sub(*start));
            }
        }
    }
}

/// The next words of a file; `None` if it ends before the last one.
fn next_words<const COUNT: usize>(input: &mut impl Read) -> std::io::Result<Option<[u64; COUNT]>> {
    let mut words = [0; COUNT];
    for word in &mut words {
        let mut bytes = [0; 8];
        match input.read_exact(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        }
        *word = u64::from_le_bytes(bytes);
    }
    Ok(Some(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(end: u64, is_late: u64) -> [u64; 8] {
        [MAGIC, VERSION | (is_late * IS_LATE), end, 0, 2, 7, 0, 0]
    }

    fn node(parent: u64, method: u64, calls: u64, wall: u64, start: u64) -> [u64; 8] {
        [parent << 32 | (method + 1), calls, wall, start, 0, 0, 0, 1]
    }

    fn file(nodes: &[[u64; 8]]) -> tempfile::NamedTempFile {
        let bytes: Vec<u8> = nodes
            .iter()
            .flatten()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), bytes).unwrap();
        file
    }

    #[test]
    fn open_calls_end_with_the_recording() {
        let nodes = [
            root(1000, 1),
            node(0, 0, 1, 0, 400),
            node(1, 7, 3, 100, 900),
            node(1, 8, 2, 50, 0),
            [0; 8],
            node(0, 9, 1, 1, 0),
        ];
        let tree = ContextTree::read(file(&nodes).path(), 3).unwrap();
        assert!(tree.is_late && tree.is_complete && !tree.is_damaged);
        let walls: Vec<u64> = tree.nodes.iter().map(|node| node.wall).collect();
        assert_eq!(walls, [0, 600, 200, 50]);
        assert_eq!(tree.self_times(), [0, 350, 200, 50]);
        assert_eq!((tree.nodes[0].allocations, tree.nodes[0].off_cpu), (2, 7));
        assert_eq!(tree.nodes[0].overflow_calls, 0);
        assert_eq!((tree.nodes[2].method, tree.nodes[2].parent), (7, 1));
    }

    #[test]
    fn processor_time_is_the_time_in_which_the_thread_ran() {
        let with_costs = |mut node: [u64; 8], off: u64, allocations: u64| {
            (node[OFF_CPU], node[ALLOCATIONS]) = (off, allocations);
            node
        };
        let mut first = root(1000, 0);
        first[ROOT_VERSION] |= HAS_CPU;
        let nodes = [
            with_costs(first, 0, 0),
            with_costs(node(0, 0, 1, 600, 0), 150, 4),
            with_costs(node(1, 7, 3, 200, 0), 50, 0),
            with_costs(node(1, 8, 1, 100, 0), 110, 2),
        ];
        let file = file(&nodes);
        let mut tree = ContextTree::read(file.path(), 3).unwrap();
        let times = |tree: &ContextTree| -> Vec<(u64, u64, u64)> {
            let times = tree.processor_times(&tree.self_times());
            times
                .iter()
                .map(|one| (one.all, one.own, one.overflow))
                .collect()
        };
        assert_eq!(
            times(&tree),
            [(300, 0, 0), (300, 150, 0), (150, 150, 0), (0, 0, 0)]
        );
        assert_eq!(
            (tree.nodes[1].allocations, tree.nodes[3].allocations),
            (4, 2)
        );
        (tree.nodes[2].overflow_wall, tree.nodes[2].off_cpu) = (120, 50);
        assert_eq!(times(&tree)[2], (150, 80, 70));
        tree.has_cpu = false;
        assert_eq!(times(&tree)[1], (0, 0, 0));
    }

    #[test]
    fn a_node_of_tasks_has_the_number_of_their_submission() {
        let task = [1 << 32 | TASK | 3, 20, 50, 0, 8, 0, 0, 2];
        let nodes = [
            root(9, 0),
            node(0, 1, 1, 90, 0),
            task,
            node(2, 5, 20, 40, 0),
        ];
        let tree = ContextTree::read(file(&nodes).path(), 1).unwrap();
        let task = tree.nodes[2];
        assert_eq!((task.submission, task.method), (Some(3), 0));
        assert_eq!((task.calls, task.wall, task.allocations), (20, 50, 0));
        assert_eq!((tree.nodes[3].submission, tree.nodes[3].method), (None, 5));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ContextTree::read_submissions(folder.path()).unwrap(), []);
        // The last word is cut.
        let bytes = [(2u64 << 32 | 7).to_le_bytes().as_slice(), &[1, 2]].concat();
        std::fs::write(folder.path().join(SUBMISSIONS_FILE), bytes).unwrap();
        let read = ContextTree::read_submissions(folder.path()).unwrap();
        assert_eq!(read, [Submission { thread: 2, node: 7 }]);
    }

    #[test]
    fn the_tree_of_a_killed_process_ends_with_the_latest_entry() {
        let nodes = [root(0, 0), node(0, 1, 1, 0, 400), node(1, 2, 1, 0, 700)];
        let tree = ContextTree::read(file(&nodes).path(), 1).unwrap();
        assert!(!tree.is_complete);
        assert_eq!((tree.nodes[1].wall, tree.nodes[2].wall), (300, 0));
    }

    #[test]
    fn damaged_nodes_end_the_tree_and_other_files_are_refused() {
        for bad in [node(5, 1, 1, 1, 0), [1 << 32; 8]] {
            let nodes = [root(9, 0), node(0, 1, 1, 1, 0), bad];
            let tree = ContextTree::read(file(&nodes).path(), 1).unwrap();
            assert!(tree.is_damaged && tree.nodes.len() == 2);
        }
        for bad in [vec![], vec![node(0, 1, 1, 1, 0)]] {
            let error = ContextTree::read(file(&bad).path(), 1).unwrap_err();
            assert!(matches!(error, TraceError::NotAContextTree(_)), "{error}");
        }
        let mut future = root(9, 0);
        future[ROOT_VERSION] = VERSION + 1;
        let error = ContextTree::read(file(&[future]).path(), 1).unwrap_err();
        assert!(
            matches!(error, TraceError::FutureVersion { major: 3, .. }),
            "{error}"
        );
    }
}

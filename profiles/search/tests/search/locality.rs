//! The judge of locality causes on simulated programs: each program walks through memory, a naive cache
//! counts the misses, and the test collects what a recording of a JVM would have.

use std::collections::{BTreeMap, HashMap, VecDeque};

use veneer_search::locality::{
    AccessTarget, AccessedSite, ClassShape, LocalityCause, LocalityWindow, MIN_ACCESSES,
    SharedSites, SiteStride, judge,
};

/// Bytes of a line, sets and ways of the naive cache: 32 KiB.
const LINE: u64 = 64;
const SETS: u64 = 64;
const WAYS: usize = 8;
/// Elements and objects of each program.
const COUNT: u64 = 100_000;

/// A program whose accesses are recorded.
#[derive(Default)]
struct Machine {
    sets: HashMap<u64, VecDeque<u64>>,
    sites: BTreeMap<u32, (AccessTarget, u64, u64)>,
    /// The last element of each line of the source, and how often each distance occurred.
    strides: BTreeMap<u32, (i64, BTreeMap<i64, u64>)>,
    shapes: Vec<ClassShape>,
}

impl Machine {
    fn access(&mut self, line: u32, target: &AccessTarget, address: u64) {
        let number = address / LINE;
        let set = self.sets.entry(number % SETS).or_default();
        let known = set.iter().position(|one| *one == number);
        let is_miss = known.is_none();
        if let Some(at) = known {
            set.remove(at);
        }
        set.push_front(number);
        set.truncate(WAYS);
        let site = self.sites.entry(line);
        let site = site.or_insert_with(|| (target.clone(), 0, 0));
        site.1 += 1;
        site.2 += u64::from(is_miss);
    }

    fn field(&mut self, line: u32, (owner, name): (&str, &str), address: u64) {
        let target = AccessTarget::Field {
            owner: owner.into(),
            name: name.into(),
        };
        self.access(line, &target, address);
    }

    fn element(&mut self, line: u32, array: &str, base: u64, index: u64, bytes: u64) {
        let target = AccessTarget::Element {
            array: array.into(),
        };
        self.access(line, &target, base + index * bytes);
        let (last, distances) = self.strides.entry(line).or_default();
        *distances.entry(index as i64 - *last).or_default() += 1;
        *last = index as i64;
    }

    fn shape(&mut self, name: &str, fields: &[(&str, &str)]) {
        let fields = fields.iter();
        self.shapes.push(ClassShape {
            name: name.into(),
            fields: fields.map(|(a, b)| ((*a).into(), (*b).into())).collect(),
            is_whole: true,
        });
    }

    /// The window, with the strides for which the judge asks.
    fn window(self) -> LocalityWindow {
        let lines: Vec<u32> = self.sites.keys().copied().collect();
        let sites = self.sites.into_iter();
        let sites = sites.map(|(line, (target, accesses, misses))| AccessedSite {
            line: Some(line),
            target,
            accesses,
            misses,
        });
        let mut window = LocalityWindow {
            line_bytes: LINE,
            sites: sites.collect(),
            shapes: self.shapes,
            ..LocalityWindow::default()
        };
        for site in window.stride_candidates() {
            let Some((_, distances)) = lines.get(site).and_then(|line| self.strides.get(line))
            else {
                continue;
            };
            let all: u64 = distances.values().sum();
            let most = distances.iter().max_by_key(|(_, count)| **count);
            window
                .strides
                .extend(most.map(|(elements, count)| SiteStride {
                    site,
                    elements: *elements,
                    share: *count as f64 / all as f64,
                }));
        }
        window
    }
}

/// A permutation of the numbers below [`COUNT`].
fn shuffled(number: u64) -> u64 {
    number * 70_001 % COUNT
}

fn causes(window: &LocalityWindow) -> Vec<LocalityCause> {
    judge(window).into_iter().map(|one| one.cause).collect()
}

fn columns(is_slow: bool) -> Machine {
    let mut machine = Machine::default();
    let (rows, columns) = (1_000, COUNT / 1_000);
    for i in 0..COUNT {
        let index = match is_slow {
            true => i % rows * columns + i / rows,
            false => i,
        };
        machine.element(35, "long[]", 1 << 20, index, 8);
    }
    machine
}

fn list(is_slow: bool) -> Machine {
    let mut machine = Machine::default();
    machine.shape("a.Node", &[("value", "long"), ("next", "a.Node")]);
    for i in 0..COUNT {
        if is_slow {
            let node = (1 << 30) + 24 * shuffled(i);
            machine.field(66, ("a.Node", "value"), node + 16);
            machine.field(67, ("a.Node", "next"), node + 12);
        } else {
            machine.element(75, "long[]", 1 << 20, i, 8);
        }
    }
    machine
}

fn keys(is_slow: bool) -> Machine {
    let mut machine = Machine::default();
    machine.shape("a.Box", &[("value", "int")]);
    for i in 0..COUNT {
        let slot = shuffled(i);
        for probe in slot..slot + 3 {
            if is_slow {
                machine.element(116, "a.Box[]", 1 << 20, probe, 4);
                let place = (1 << 30) + 16 * shuffled(probe % COUNT);
                machine.field(118, ("a.Box", "value"), place + 12);
            } else {
                machine.element(153, "int[]", 1 << 20, probe, 4);
            }
        }
    }
    machine
}

fn records(is_slow: bool) -> Machine {
    let mut machine = Machine::default();
    let names = [
        "number", "customer", "price", "quantity", "discount", "date",
    ];
    machine.shape("a.Order", &names.map(|name| (name, "long")));
    for i in 0..COUNT {
        if is_slow {
            machine.element(77, "a.Order[]", 1 << 20, i, 4);
            machine.field(78, ("a.Order", "price"), (1 << 30) + 64 * i + 32);
        } else {
            machine.element(86, "long[]", 1 << 20, i, 8);
        }
    }
    machine
}

#[test]
fn each_fault_is_named_and_its_mended_form_is_not() {
    type Program = fn(bool) -> Machine;
    let programs: [(Program, LocalityCause, u32, &str); 4] = [
        (
            columns,
            LocalityCause::Stride,
            35,
            "long[] that are 800 bytes",
        ),
        (list, LocalityCause::PointerChasing, 66, "a.Node.next links"),
        (keys, LocalityCause::BoxedKeys, 118, "a.Box.value, the only"),
        (records, LocalityCause::ArrayOfObjects, 78, "8 of 48 bytes"),
    ];
    for (program, cause, line, text) in programs {
        let found = judge(&program(true).window());
        let [only] = &found[..] else {
            panic!("{cause:?}: {found:?}");
        };
        assert_eq!((only.cause, only.line), (cause, Some(line)));
        let begin = format!("{}: line {line} ", cause.words());
        assert!(only.text.starts_with(&begin), "{}", only.text);
        assert!(only.text.contains(text), "{}", only.text);
        assert_eq!(causes(&program(false).window()), []);
    }
}

/// Two threads add to a counter each; their counters are `distance` bytes apart. They take turns.
fn counters(distance: u64) -> LocalityWindow {
    let (mut written, mut invalid) = ([None; 2], 0);
    for step in 0..COUNT {
        let thread = (step % 2) as usize;
        let line = (thread as u64 * distance) / LINE;
        invalid += u64::from(written[1 - thread] == Some(line));
        written[thread] = Some(line);
    }
    LocalityWindow {
        line_bytes: LINE,
        shared: vec![SharedSites {
            writer: Some(67),
            other: Some(67),
            target: AccessTarget::Element {
                array: "long[]".into(),
            },
            accesses: COUNT,
            true_misses: 0,
            false_misses: invalid,
        }],
        ..LocalityWindow::default()
    }
}

#[test]
fn threads_that_write_one_line_are_named() {
    let found = judge(&counters(8));
    assert_eq!(found[0].cause, LocalityCause::FalseSharing);
    assert!(found[0].text.contains("100.00 % of"), "{}", found[0].text);
    assert_eq!(causes(&counters(128)), []);
    // Threads that write the same bytes share them on purpose.
    let mut wanted = counters(8);
    wanted.shared[0].true_misses = COUNT * 2;
    assert_eq!(causes(&wanted), []);
}

#[test]
fn objects_whose_fields_are_mostly_read_are_no_fault() {
    let mut machine = records(true);
    for i in 0..COUNT {
        for (line, name) in [(79, "number"), (80, "customer"), (81, "date")] {
            machine.field(line, ("a.Order", name), (1 << 30) + 64 * i + 16);
        }
    }
    assert_eq!(causes(&machine.window()), []);
}

#[test]
fn few_accesses_and_unknown_classes_say_nothing() {
    let mut window = list(true).window();
    window.shapes.clear();
    assert_eq!(causes(&window), []);
    let mut few = records(true).window();
    for site in &mut few.sites {
        site.accesses = MIN_ACCESSES - 1;
        site.misses = site.misses.min(site.accesses);
    }
    assert_eq!(causes(&few), []);
    assert_eq!(causes(&LocalityWindow::default()), []);
    // A box of the JDK is known without its class file.
    let mut window = keys(true).window();
    window.shapes.clear();
    for site in &mut window.sites {
        match &mut site.target {
            AccessTarget::Field { owner, .. } => *owner = "java.lang.Integer".into(),
            AccessTarget::Element { array } => *array = "java.lang.Object[]".into(),
        }
    }
    assert_eq!(causes(&window), [LocalityCause::BoxedKeys]);
}

#[test]
fn a_random_walk_through_an_array_has_no_stride() {
    let mut machine = Machine::default();
    let mut state = 1u64;
    for _ in 0..COUNT {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        machine.element(9, "long[]", 1 << 20, (state >> 33) % COUNT, 8);
    }
    let window = machine.window();
    assert_eq!(window.stride_candidates(), [0]);
    assert_eq!(causes(&window), []);
}

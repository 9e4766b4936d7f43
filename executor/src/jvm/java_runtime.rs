//! The Java runtime classes inside the JVM (`executor/java`), and the agent's calls of them.
//!
//! [`Library::load`] defines the classes in the boot loader when the agent starts. Every other
//! function calls one method of `VeneerAgent`. The plan thread and the request thread call most
//! of them; application threads call those for arming and for call stacks. No lock of the agent may
//! be held during a call.

use crate::jvm::jni::{Env, Global, JvmError, Reference, Static, i, j, jclass, jobject, l};
use crate::jvm::runtime_table::{CLASSES, THREAD_ROWS};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use veneer_fragmenter::version::VersionClass;
use veneer_names::MethodId;
use veneer_names::java_form;

mod direct_reads;

/// The internal name and the class file of each runtime class, in the order of definition.
const CLASS_FILES: [(&str, &[u8]); CLASSES.len()] =
    include!(concat!(env!("OUT_DIR"), "/runtime_classes.rs"));

/// How long the first token waits for room on the heap.
const MAX_ROOM_WAIT: Duration = Duration::from_secs(2);

/// The time between two looks at the heap. Each look after the first makes the JVM collect garbage.
const ROOM_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The methods of `VeneerAgent`.
pub struct Library {
    /// The class `MethodHandle`.
    handles: Global,
    /// The token of the armed body.
    idle: Global,
    /// The array `VeneerRuntime.FOUND`: the owner and the counter shard of each row.
    found: Global,
    prepared: OnceLock<()>,
    has_prepared_versions: OnceLock<()>,
    prepare_versions: Static,
    token: Static,
    current_token: Static,
    define: Static,
    define_anchor: Static,
    anchor: Static,
    install: Static,
    install_resume: Static,
    release_resume: Static,
    shown_hosts: Static,
    host_additions: Static,
    release_host: Static,
    set_idle: Static,
    clock: Static,
    choose_trace_clock: Static,
    loaded: Static,
    offset: Static,
    type_number: Static,
    unreachable: Static,
    prepare: Static,
    keep: Static,
    texts: Static,
    clear_texts: Static,
    objects: Static,
    with_value: Static,
    room_to_change: Static,
    room_to_link: Static,
    without_place: Static,
    forget_all: Static,
    add_inline_caches: Static,
    remove_inline_caches: Static,
    start_calls: Static,
    call_pages: Static,
    place: Static,
    shut: Static,
    open: Static,
    linked: Static,
    forget: Static,
    begin_lives: Static,
    fold_lives: Static,
    end_lives: Static,
    begin_trace: Static,
    end_trace: Static,
    calibrate_trace: Static,
    prepare_accesses: Static,
    prepare_origins: Static,
    begin_accesses: Static,
    end_accesses: Static,
}

/// Defines the runtime classes in the boot loader, and returns the last one, `VeneerAgent`.
fn define_classes(env: Env) -> Result<jclass, JvmError> {
    let reads_directly = direct_reads::is_known(env);
    let mut last = Reference::NULL;
    for ((name, bytes), class) in CLASS_FILES.iter().zip(&CLASSES) {
        let direct = (reads_directly && class.reads_constant_handles)
            .then(|| direct_reads::direct(bytes))
            .transpose()
            .map_err(|e| JvmError {
                what: format!("writing {name}"),
                thrown: e.to_string(),
            })?;
        let bytes = direct.as_deref().unwrap_or(bytes);
        last = env.define(name, Reference::NULL, bytes)?;
    }
    Ok(last)
}

/// Fails if a reference is neither null nor that of a class. The Java methods throw for null.
fn expect_class_or_null(env: Env, class: jclass, what: &str) -> Result<(), JvmError> {
    match class.is_null() {
        true => Ok(()),
        false => env.expect_class(class, || what.to_string()),
    }
}

impl Library {
    /// Defines the runtime classes, and passes them the address of the thread table.
    ///
    /// # Safety
    /// `table` must be the address of the thread table, which is never freed: application threads
    /// read it.
    pub unsafe fn load(env: Env, table: i64) -> Result<Library, JvmError> {
        let class = Arc::new(env.global(define_classes(env)?));
        let find = |name, descriptor| env.static_method(&class, name, descriptor);
        let trace = Arc::new(env.global(env.find(c"java/lang/invoke/VeneerTrace")?));
        let set_table = find(c"table", c"(J)V")?;
        let what = || "handing over the thread table".into();
        // SAFETY: `table(J)V` takes one long; the caller vouches for the address.
        unsafe { env.void(&set_table, &[j(table)], what) }?;
        let handles = env.global(env.find(c"java/lang/invoke/MethodHandle")?);
        let found = find(c"found", c"()[J")?;
        // SAFETY: `found()[J` has no parameters, and returns an array.
        let found = unsafe { env.object(&found, &[], || "reading FOUND".into()) }?;
        let idle = find(c"idleToken", c"()Ljava/lang/invoke/MethodHandle;")?;
        // SAFETY: `idleToken` has no parameters, and returns a method handle.
        let idle = unsafe { env.object(&idle, &[], || "reading IDLE".into()) }?;
        Ok(Library {
            handles,
            idle: env.global(idle),
            found: env.global(found),
            prepared: OnceLock::new(),
            has_prepared_versions: OnceLock::new(),
            prepare_versions: find(c"prepareVersions", c"()V")?,
            token: find(c"token", c"([I)Ljava/lang/invoke/MethodHandle;")?,
            current_token: find(c"currentToken", c"(I)Ljava/lang/invoke/MethodHandle;")?,
            define: find(
                c"define",
                c"(Ljava/lang/Class;Ljava/lang/String;[B[Ljava/lang/invoke/MethodHandle;[ILjava/lang/String;Ljava/lang/String;)Ljava/lang/Class;",
            )?,
            define_anchor: find(
                c"defineAnchor",
                c"(Ljava/lang/ClassLoader;Ljava/lang/String;[BLjava/security/ProtectionDomain;)Ljava/lang/Class;",
            )?,
            anchor: find(c"anchor", c"(Ljava/lang/Class;[I)V")?,
            install: find(
                c"install",
                c"(ILjava/lang/Class;Ljava/lang/invoke/MethodHandle;)V",
            )?,
            install_resume: find(
                c"installResume",
                c"(ILjava/lang/Class;Ljava/lang/invoke/MethodHandle;Ljava/lang/String;)V",
            )?,
            release_resume: find(c"releaseResume", c"(I)V")?,
            shown_hosts: find(c"shownHosts", c"()J")?,
            host_additions: find(c"hostAdditions", c"()J")?,
            release_host: find(c"releaseHost", c"(Ljava/lang/Class;J)J")?,
            set_idle: find(c"idle", c"(I)V")?,
            clock: find(c"clock", c"(JJJJ)V")?,
            choose_trace_clock: find(c"chooseTraceClock", c"()J")?,
            loaded: find(
                c"loaded",
                c"(Ljava/lang/Class;Ljava/lang/String;)Ljava/lang/Class;",
            )?,
            offset: find(
                c"offset",
                c"(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;)J",
            )?,
            type_number: find(c"type", c"(Ljava/lang/Class;)J")?,
            unreachable: find(
                c"unreachable",
                c"(Ljava/lang/Class;Ljava/lang/Class;I)Ljava/lang/String;",
            )?,
            prepare: find(c"prepare", c"()V")?,
            keep: find(c"keep", c"(JJ)V")?,
            texts: find(c"texts", c"(J)J")?,
            clear_texts: find(c"clearTexts", c"(J)V")?,
            objects: find(c"objects", c"(J)J")?,
            with_value: find(c"withValue", c"(J)J")?,
            room_to_change: find(c"roomToChange", c"(J)J")?,
            room_to_link: find(c"roomToLink", c"()J")?,
            without_place: find(c"withoutPlace", c"(J)J")?,
            forget_all: find(c"forgetAll", c"()V")?,
            add_inline_caches: find(c"addInlineCaches", c"(I)V")?,
            remove_inline_caches: find(c"removeInlineCaches", c"(I)V")?,
            start_calls: find(c"startCalls", c"(JJJLjava/lang/Class;)[J")?,
            call_pages: find(c"callPages", c"(II)V")?,
            place: find(c"place", c"(Ljava/lang/Class;Ljava/lang/String;I)J")?,
            shut: find(c"shut", c"(I)V")?,
            open: find(c"open", c"(I)V")?,
            linked: find(c"linked", c"()V")?,
            forget: find(c"forget", c"(II)V")?,
            begin_lives: find(c"beginLives", c"(JJJ)J")?,
            fold_lives: find(c"foldLives", c"()V")?,
            end_lives: find(c"endLives", c"()J")?,
            begin_trace: env.static_method(&trace, c"begin", c"(JJIJJJ)V")?,
            end_trace: env.static_method(&trace, c"end", c"()V")?,
            calibrate_trace: env.static_method(&trace, c"calibrate", c"(JJJI)J")?,
            prepare_accesses: find(c"prepareAccesses", c"()V")?,
            prepare_origins: find(c"prepareOrigins", c"()J")?,
            begin_accesses: find(c"beginAccesses", c"(IJ)V")?,
            end_accesses: find(c"endAccesses", c"()V")?,
        })
    }

    /// Whether the JVM finds the agent's native methods. At the start of the JVM, it finds them at
    /// once; in a running JVM, after it has finished loading the agent.
    pub fn is_linked(&self, env: Env) -> bool {
        // SAFETY: `linked()V` has no parameters.
        unsafe { env.void(&self.linked, &[], || "linking natives".into()) }.is_ok()
    }

    // ---- versions and cells --------------------------------------------------------------------

    /// The token of the armed body.
    pub fn idle(&self) -> jobject {
        self.idle.raw()
    }

    /// Fails if a reference is neither null nor that of a method handle.
    fn expect_token(&self, env: Env, token: jobject, what: &str) -> Result<(), JvmError> {
        match token.is_null() || env.is_instance(token, &self.handles) {
            true => Ok(()),
            false => Err(JvmError {
                what: what.to_string(),
                thrown: "the reference is not that of a token".into(),
            }),
        }
    }

    /// Prepares the JVM for the first token. An agent without instruments does not need this, so it
    /// is not part of the start, except if there are plans. The preparation initialises classes, which is never tried again
    /// after an `OutOfMemoryError`. So this function waits for room on the heap for at most
    /// [`MAX_ROOM_WAIT`], and fails if the heap is full then; a later call may succeed.
    pub fn prepare_versions(&self, env: Env) -> Result<(), JvmError> {
        if self.has_prepared_versions.get().is_none() {
            let deadline = Instant::now() + MAX_ROOM_WAIT;
            let mut collects = false;
            while !self.has_room_to_change(env, collects) && Instant::now() < deadline {
                std::thread::sleep(ROOM_POLL_INTERVAL);
                collects = true;
            }
            let what = || "preparing for the first version".into();
            // SAFETY: `prepareVersions()V` has no parameters.
            unsafe { env.void(&self.prepare_versions, &[], what) }?;
            let _ = self.has_prepared_versions.set(());
        }
        Ok(())
    }

    /// Makes a token, as a local reference: for one version of one method, or, with offsets of
    /// counters, for the armed body with these counters at its entry. No version can be entered
    /// before a token for it exists.
    pub fn token(&self, env: Env, offsets: &[i32]) -> Result<jobject, JvmError> {
        self.prepare_versions(env)?;
        let offsets = env.ints(offsets)?;
        // SAFETY: `token([I)` takes one int array, and returns a method handle. The local reference
        // `offsets` is not used after its deletion.
        unsafe {
            let token = env.object(&self.token, &[l(offsets)], || "making a token".into());
            env.delete(offsets);
            token
        }
    }

    /// The token that the cell of a method holds now, or IDLE, as a local reference.
    pub fn current_token(&self, env: Env, id: MethodId) -> Result<jobject, JvmError> {
        let what = || "reading the token of a method".into();
        // SAFETY: `currentToken(I)` takes one int, and returns a method handle.
        unsafe { env.object(&self.current_token, &[i(id.as_java())], what) }
    }

    /// Defines a version class as a nestmate of its host. The result is a local reference.
    pub fn define(
        &self,
        env: Env,
        host: jclass,
        class: &VersionClass,
        tokens: &[jobject],
    ) -> Result<jclass, JvmError> {
        let what = "defining a version";
        expect_class_or_null(env, host, what)?;
        let tokens = env.objects(self.handles.raw(), tokens)?;
        let bytes = env.bytes(&class.bytes)?;
        let name = env.new_string(&class.name)?;
        let places = env.ints(&class.places)?;
        let parts = class
            .final_fields
            .iter()
            .flat_map(|f| [f.index.to_string(), f.name.clone(), f.descriptor.clone()]);
        let finals = env.new_string(&parts.collect::<Vec<_>>().join("."))?;
        let parts = class.bound.iter().flat_map(|b| {
            let (class, name, descriptor) = (b.class.clone(), b.name.clone(), b.descriptor.clone());
            let (operation, index) = (b.operation.to_string(), b.index.to_string());
            [operation, index, class, name, descriptor]
        });
        let bound = env.new_string(&parts.collect::<Vec<_>>().join("."))?;
        let [host, name, bytes] = [l(host), l(name), l(bytes)];
        let arguments = [host, name, bytes, l(tokens), l(places), l(finals), l(bound)];
        // SAFETY: `define` takes a class, a string, a byte array, an array of method handles, an int
        // array and two strings, and returns a class.
        unsafe { env.object(&self.define, &arguments, || what.into()) }
    }

    /// Defines an anchor in the loader of its host, with the host's protection domain. `name` is
    /// the internal name. The result is a local reference.
    ///
    /// # Safety
    /// `domain` must be a protection domain or null.
    pub unsafe fn define_anchor(
        &self,
        env: Env,
        loader: jobject,
        domain: jobject,
        (name, bytes): (&str, &[u8]),
    ) -> Result<jclass, JvmError> {
        if loader.is_null() {
            return env.define(name, loader, bytes);
        }
        let what = || format!("defining {name}");
        env.expect_loader(loader, what)?;
        let name = env.new_string(name)?;
        let bytes = env.bytes(bytes)?;
        let arguments = [l(loader), l(name), l(bytes), l(domain)];
        // SAFETY: `defineAnchor` takes a class loader, which was checked, a string, a byte array and
        // a protection domain, and returns a class. The caller vouches for the domain. The local
        // references `name` and `bytes` are not used after their deletion.
        unsafe {
            let class = env.object(&self.define_anchor, &arguments, what);
            env.delete(name);
            env.delete(bytes);
            class
        }
    }

    /// Fills the cells of an anchor with the ids of its methods, and initialises the anchor.
    pub fn anchor(&self, env: Env, anchor: jclass, ids: &[i32]) -> Result<(), JvmError> {
        let what = "filling an anchor";
        expect_class_or_null(env, anchor, what)?;
        let ids = env.ints(ids)?;
        // SAFETY: `anchor` takes a class and an int array. The local reference `ids` is not used
        // after its deletion.
        unsafe {
            let done = env.void(&self.anchor, &[l(anchor), l(ids)], || what.into());
            env.delete(ids);
            done
        }
    }

    /// Makes a version current: new activations enter it. If `version` is null, new activations run
    /// the armed body with the counters of the token.
    pub fn install(
        &self,
        env: Env,
        id: MethodId,
        version: jclass,
        token: jobject,
    ) -> Result<(), JvmError> {
        let what = "installing a version";
        expect_class_or_null(env, version, what)?;
        self.expect_token(env, token, what)?;
        let arguments = [i(id.as_java()), l(version), l(token)];
        // SAFETY: `install` takes an int, a class and a method handle.
        unsafe { env.void(&self.install, &arguments, || what.into()) }
    }

    /// Gives a token's version an OSR entry for running activations: the method `body`.
    pub fn install_resume(
        &self,
        env: Env,
        id: MethodId,
        version: jclass,
        token: jobject,
        body: &str,
    ) -> Result<(), JvmError> {
        let what = "installing an entry for running activations";
        expect_class_or_null(env, version, what)?;
        self.expect_token(env, token, what)?;
        let body = env.new_string(body)?;
        let arguments = [i(id.as_java()), l(version), l(token), l(body)];
        // SAFETY: `installResume` takes an int, a class, a method handle and a string. The local
        // reference `body` is not used after its deletion.
        unsafe {
            let result = env.void(&self.install_resume, &arguments, || what.into());
            env.delete(body);
            result
        }
    }

    /// Drops the OSR entry of a method that is back in its armed body.
    pub fn release_resume(&self, env: Env, id: MethodId) -> Result<(), JvmError> {
        let what = || "releasing an entry for running activations".into();
        // SAFETY: `releaseResume(I)V` takes one int.
        unsafe { env.void(&self.release_resume, &[i(id.as_java())], what) }
    }

    /// The number of exceptions whose traces were made exact, and the number of versions that
    /// `VeneerHosts` knows.
    pub fn host_counts(&self, env: Env) -> Result<(i64, i64), JvmError> {
        let what = || "reading the number of exceptions in versions".into();
        // SAFETY: both methods have no parameters, and return a long.
        unsafe {
            let shown = env.long(&self.shown_hosts, &[], what)?;
            Ok((shown, env.long(&self.host_additions, &[], what)?))
        }
    }

    /// Ends the exact traces of a class, if no version was added since there were `additions`.
    /// Returns whether that was so.
    pub fn release_host(&self, env: Env, host: jclass, additions: i64) -> Result<bool, JvmError> {
        let what = || "releasing a class without versions".into();
        let arguments = [l(host), j(additions)];
        // SAFETY: `releaseHost` takes a class and a long, and returns a long.
        let released = unsafe { env.long(&self.release_host, &arguments, what) }?;
        Ok(released != 0)
    }

    /// Sets a method's cell to the token of the armed body.
    pub fn set_idle(&self, env: Env, id: MethodId) -> Result<(), JvmError> {
        let what = || "setting a cell to IDLE".into();
        // SAFETY: `idle(I)V` takes one int.
        unsafe { env.void(&self.set_idle, &[i(id.as_java())], what) }
    }

    /// Removes the entries of cells whose methods are unloaded. Fails if one of the cells is still
    /// in use.
    pub fn forget(&self, env: Env, ids: std::ops::Range<MethodId>) -> Result<(), JvmError> {
        let arguments = [i(ids.start.as_java()), i(ids.end.as_java())];
        // SAFETY: `forget(II)V` takes two ints.
        unsafe { env.void(&self.forget, &arguments, || "forgetting cells".into()) }
    }

    /// Shuts a gate, or opens it again. See `VeneerGate`.
    pub fn turn_gate(&self, env: Env, gate: u32, open: bool) -> Result<(), JvmError> {
        let call = if open { &self.open } else { &self.shut };
        let what = || "switching a gate".into();
        // SAFETY: `open(I)V` and `shut(I)V` take one int.
        unsafe { env.void(call, &[i(gate as i32)], what) }
    }

    /// Whether the heap has room for the objects that the JVM allocates when it deoptimises compiled
    /// code. With `allocate`, the JVM may collect garbage to make room. True if the question fails,
    /// because a failure must not keep cells from changing.
    pub fn has_room_to_change(&self, env: Env, allocate: bool) -> bool {
        let what = || "looking at the heap".into();
        // SAFETY: `roomToChange(J)J` takes one long.
        unsafe { env.long(&self.room_to_change, &[j(allocate.into())], what) }
            .map_or(true, |room| room != 0)
    }

    /// Whether the heap has so much room that the application does not fill it while classes of the JDK
    /// are initialised. False if the question fails.
    pub fn has_room_to_link(&self, env: Env) -> bool {
        let what = || "looking at the heap".into();
        // SAFETY: `roomToLink()J` has no parameters.
        let room = unsafe { env.long(&self.room_to_link, &[], what) };
        room.is_ok_and(|room| room != 0)
    }

    /// The position in the armed body for a bci in a version; negative if it is not known.
    pub fn place(
        &self,
        env: Env,
        version: jclass,
        method: &str,
        bci: i64,
    ) -> Result<i64, JvmError> {
        let what = || format!("looking for the place of {method}");
        expect_class_or_null(env, version, "looking for a place")?;
        let name = env.new_string(method)?;
        let bci = i32::try_from(bci).unwrap_or(-1);
        let arguments = [l(version), l(name), i(bci)];
        // SAFETY: `place` takes a class, a string and an int. The local reference `name` is not used
        // after its deletion.
        unsafe {
            let found = env.long(&self.place, &arguments, what);
            env.delete(name);
            found
        }
    }

    // ---- threads and clock ---------------------------------------------------------------------

    /// Removes the ending thread's entry from `VeneerRuntime.FOUND`. Called at `ThreadEnd`, by a
    /// thread that owns its row.
    pub fn thread_ends(&self, env: Env, tid: i64) {
        let row = tid as i32 & (THREAD_ROWS - 1);
        // SAFETY: `found` is a `long` array.
        unsafe { env.set_long(self.found.raw(), 2 * row, 0) };
    }

    /// Prepares the counters of complete call graphs. `addresses` are those of the shared counters, of
    /// counters that nobody reads, and of the table of receivers. `virtual_threads` is the superclass
    /// of virtual threads, or null. Returns the table of the threads' counters.
    ///
    /// # Safety
    /// The memory at the addresses must never be freed.
    pub unsafe fn start_calls(
        &self,
        env: Env,
        [shared, unread, pairs]: [i64; 3],
        virtual_threads: jobject,
    ) -> Result<Global, JvmError> {
        let what = || "preparing the counters of calls".into();
        let arguments = [j(shared), j(unread), j(pairs), l(virtual_threads)];
        // SAFETY: `startCalls` takes three longs and a class, and returns an array. The caller vouches
        // for the addresses.
        let own = unsafe { env.object(&self.start_calls, &arguments, what) }?;
        Ok(env.global(own))
    }

    /// Makes the pages of first receivers for `count` counters.
    pub fn call_pages(&self, env: Env, first: u32, count: u32) -> Result<(), JvmError> {
        let what = || "making room for receivers".into();
        // SAFETY: `callPages(II)V` takes two ints.
        unsafe { env.void(&self.call_pages, &[i(first as i32), i(count as i32)], what) }
    }

    /// Removes the ending thread's entry from the table of the threads' counters of calls.
    pub fn thread_ends_calls(&self, env: Env, own: &Global, tid: i64) {
        let row = tid as i32 & (THREAD_ROWS - 1);
        // SAFETY: `own` is a `long` array.
        unsafe { env.set_long(own.raw(), 2 * row, -1) };
    }

    /// Makes timers read `function`, whose ticks take `scale` nanoseconds times 2⁶². `then` is what
    /// the function and `System.nanoTime` returned at one moment.
    pub fn clock(
        &self,
        env: Env,
        function: extern "C" fn() -> i64,
        then: (i64, i64),
        scale: i64,
    ) -> Result<(), JvmError> {
        let address = function as *const () as i64;
        let arguments = [j(address), j(then.0), j(then.1), j(scale)];
        let what = || "setting the clock of timers".into();
        // SAFETY: `clock(JJJJ)V` takes four longs. The function stays in memory, because the agent's
        // library is never unloaded.
        unsafe { env.void(&self.clock, &arguments, what) }
    }

    /// Chooses the clock of all recordings. Returns whether they read the counter that [`Library::clock`]
    /// has set. Called before the first recording.
    pub fn choose_trace_clock(&self, env: Env) -> Result<bool, JvmError> {
        let what = || "choosing the clock of traces".into();
        // SAFETY: `chooseTraceClock()J` has no parameters.
        unsafe { env.long(&self.choose_trace_clock, &[], what) }.map(|by_counter| by_counter != 0)
    }

    /// Begins a recording: all calls that begin from now on are recorded. `coarse` is the address of the
    /// clock of contexts, or 0 if their times are exact.
    ///
    /// # Safety
    /// `tracks` and `shards` must be the addresses of the first track and of the first counter
    /// shard, which are never freed: application threads write to them. So must the clock.
    pub unsafe fn begin_trace(
        &self,
        env: Env,
        (tracks, shards): (i64, i64),
        (number, mark, shortest): (i32, u64, u64),
        coarse: i64,
    ) -> Result<(), JvmError> {
        let (mark, shortest) = (j(mark as i64), j(shortest as i64));
        let arguments = [j(tracks), j(shards), i(number), mark, shortest, j(coarse)];
        // SAFETY: `begin(JJIJJJ)V` takes two longs, an int and three longs; the caller vouches for the
        // addresses.
        unsafe { env.void(&self.begin_trace, &arguments, || "beginning a trace".into()) }
    }

    /// Ends the recording.
    pub fn end_trace(&self, env: Env) -> Result<(), JvmError> {
        // SAFETY: `end()V` has no parameters.
        unsafe { env.void(&self.end_trace, &[], || "ending a trace".into()) }
    }

    /// Prepares a recording of memory accesses, before versions with its code are installed.
    pub fn prepare_accesses(&self, env: Env) -> Result<(), JvmError> {
        let what = || "preparing a recording of accesses".into();
        // SAFETY: `prepareAccesses()V` has no parameters.
        unsafe { env.void(&self.prepare_accesses, &[], what) }
    }

    /// Whether objects can be marked with the instruction that allocated them.
    pub fn prepare_origins(&self, env: Env) -> Result<bool, JvmError> {
        let what = || "preparing the origins of objects".into();
        // SAFETY: `prepareOrigins()J` has no parameters.
        Ok(unsafe { env.long(&self.prepare_origins, &[], what) }? != 0)
    }

    /// Begins a recording of memory accesses, after [`Library::begin_trace`] with the number 0.
    ///
    /// # Safety
    /// `caches` must be the address of the caches of the recording, which are never freed.
    pub unsafe fn begin_accesses(
        &self,
        env: Env,
        number: i32,
        caches: i64,
    ) -> Result<(), JvmError> {
        let what = || "recording accesses".into();
        // SAFETY: `beginAccesses(IJ)V` takes an int and a long; the caller vouches for the address.
        unsafe { env.void(&self.begin_accesses, &[i(number), j(caches)], what) }
    }

    /// Ends a recording of memory accesses.
    pub fn end_accesses(&self, env: Env) -> Result<(), JvmError> {
        let what = || "ending a recording of accesses".into();
        // SAFETY: `endAccesses()V` has no parameters.
        unsafe { env.void(&self.end_accesses, &[], what) }
    }

    /// Records calls that do nothing on the current thread. Returns their number, which is 0 if they
    /// cannot be recorded.
    ///
    /// # Safety
    /// As for [`Library::begin_trace`], and nothing may be recorded.
    pub unsafe fn calibrate_trace(
        &self,
        env: Env,
        (tracks, shards): (i64, i64),
        mark: u64,
        calls: i32,
    ) -> Result<i64, JvmError> {
        let arguments = [j(tracks), j(shards), j(mark as i64), i(calls)];
        let what = || "recording empty calls".into();
        // SAFETY: `calibrate(JJJI)J` takes three longs and an int; the caller vouches for the
        // addresses.
        unsafe { env.long(&self.calibrate_trace, &arguments, what) }
    }

    /// Begins to follow at most `most` objects at a time. Returns the number of objects for which the heap
    /// has room; 0 if it has none. `words` is the address of the clocks, `time` that of the time.
    ///
    /// # Safety
    /// The memory at both addresses must never be freed.
    pub unsafe fn begin_lives(
        &self,
        env: Env,
        (words, time): (i64, i64),
        most: u32,
    ) -> Result<i64, JvmError> {
        let arguments = [j(words), j(time), j(most.into())];
        let what = || "following objects".into();
        // SAFETY: `beginLives(JJJ)J` takes three longs; the caller vouches for the addresses.
        unsafe { env.long(&self.begin_lives, &arguments, what) }
    }

    /// Adds the followed objects that have died to their rows.
    pub fn fold_lives(&self, env: Env) -> Result<(), JvmError> {
        // SAFETY: `foldLives()V` has no parameters.
        unsafe { env.void(&self.fold_lives, &[], || "following objects".into()) }
    }

    /// Ends the lives of all followed objects. The Java side calls `VeneerLives.row` for each row meanwhile.
    /// Returns the number of objects that were not followed.
    pub fn end_lives(&self, env: Env) -> Result<u64, JvmError> {
        let what = || "ending the lives of objects".into();
        // SAFETY: `endLives()J` has no parameters.
        let untracked = unsafe { env.long(&self.end_lives, &[], what) }?;
        Ok(untracked.max(0) as u64)
    }

    // ---- classes that probes name --------------------------------------------------------------

    /// The class that the class `by` means by an internal name, as a local reference. Null if that
    /// class is not loaded.
    pub fn loaded(&self, env: Env, by: jclass, name: &str) -> Result<jclass, JvmError> {
        let what = || format!("looking for {name}");
        expect_class_or_null(env, by, "looking for a class")?;
        let text = env.new_string(&java_form(name))?;
        // SAFETY: `loaded` takes a class and a string, and returns a class or null. The local
        // reference `text` is not used after its deletion.
        unsafe {
            let found = env.object(&self.loaded, &[l(by), l(text)], what);
            env.delete(text);
            found
        }
    }

    /// The offset, in its object, of an instance field that the class declares. A class may have
    /// several fields of one name, with different descriptors.
    pub fn offset(
        &self,
        env: Env,
        class: jclass,
        name: &str,
        descriptor: &str,
    ) -> Result<i64, JvmError> {
        let what = || format!("looking for the field {name}");
        expect_class_or_null(env, class, "looking for a field")?;
        let text = env.new_string(name)?;
        let typed = env.new_string(descriptor)?;
        // SAFETY: `offset` takes a class and two strings. The local references `text` and `typed`
        // are not used after their deletion.
        unsafe {
            let found = env.long(&self.offset, &[l(class), l(text), l(typed)], what);
            env.delete(text);
            env.delete(typed);
            found
        }
    }

    /// The number of a class for casts in probes. `None` if there are too many such classes.
    pub fn type_number(&self, env: Env, class: jclass) -> Result<Option<i64>, JvmError> {
        let what = "giving a class a number";
        expect_class_or_null(env, class, what)?;
        // SAFETY: `type` takes a class.
        let number = unsafe { env.long(&self.type_number, &[l(class)], || what.into()) }?;
        Ok((number >= 0).then_some(number))
    }

    /// The reason why code in the class `by` cannot name another class; `None` if it can. `accessed`
    /// means that the code calls methods by that name, or casts to it.
    pub fn unreachable(
        &self,
        env: Env,
        by: jclass,
        class: jclass,
        accessed: bool,
    ) -> Result<Option<String>, JvmError> {
        let what = "asking whether a class can be reached";
        expect_class_or_null(env, by, what)?;
        expect_class_or_null(env, class, what)?;
        let arguments = [l(by), l(class), i(i32::from(accessed))];
        // SAFETY: `unreachable` takes two classes and an int, and returns a string or null. The
        // local reference `why` is not used after its deletion.
        unsafe {
            let why = env.object(&self.unreachable, &arguments, || what.into())?;
            let text = env.string(why);
            env.delete(why);
            Ok(text)
        }
    }

    /// Initialises the classes that probes call, if this has not happened. Called before a probe is
    /// compiled.
    pub fn prepare(&self, env: Env) -> Result<(), JvmError> {
        if self.prepared.get().is_none() {
            let what = || "initialising what code calls".into();
            // SAFETY: `prepare()V` has no parameters.
            unsafe { env.void(&self.prepare, &[], what) }?;
            let _ = self.prepared.set(());
        }
        Ok(())
    }

    // ---- tables --------------------------------------------------------------------------------

    /// Makes the array for the objects on the stacks of the table at the address `table`, which has
    /// `places` places.
    ///
    /// # Safety
    /// `table` must be the address of a table of stacks, which the agent has mapped for ever.
    pub unsafe fn keep(&self, env: Env, table: i64, places: i64) -> Result<(), JvmError> {
        let what = || "making room for objects".to_string();
        // SAFETY: `keep(JJ)V` takes two longs; the caller vouches for the address.
        unsafe { env.void(&self.keep, &[j(table), j(places)], what) }
    }

    /// Reserves a row of `VeneerTexts` for a table with `places` places for strings. Returns 0 if
    /// no row is left.
    pub fn texts(&self, env: Env, places: i64) -> Result<u64, JvmError> {
        let what = || "making room for strings".to_string();
        // SAFETY: `texts(J)J` takes one long.
        let row = unsafe { env.long(&self.texts, &[j(places)], what) }?;
        Ok(row.max(0) as u64)
    }

    /// Empties a row of `VeneerTexts`, so that a table with as many places for strings can use it.
    /// No code may be using the row.
    pub fn clear_texts(&self, env: Env, row: u64) -> Result<(), JvmError> {
        let what = || "emptying the room for strings".to_string();
        // SAFETY: `clearTexts(J)V` takes one long.
        unsafe { env.void(&self.clear_texts, &[j(row as i64)], what) }
    }

    /// Makes a table for the values of `most` objects, and returns its number among these tables.
    /// `None` if there are too many of them.
    pub fn objects(&self, env: Env, most: u32) -> Result<Option<u64>, JvmError> {
        let what = || "making a table of values of objects".to_string();
        // SAFETY: `objects(J)J` takes one long.
        let number = unsafe { env.long(&self.objects, &[j(i64::from(most))], what) }?;
        Ok(u64::try_from(number).ok())
    }

    /// Returns how many objects have a value in such a table, and how many found no place in it.
    pub fn with_value(&self, env: Env, table: i64) -> Result<(u64, u64), JvmError> {
        let what = || "counting values of objects".to_string();
        // SAFETY: `withValue(J)J` and `withoutPlace(J)J` take one long.
        let (with, without) = unsafe {
            (
                env.long(&self.with_value, &[j(table)], what)?,
                env.long(&self.without_place, &[j(table)], what)?,
            )
        };
        Ok((with.max(0) as u64, without.max(0) as u64))
    }

    /// Makes a page of inline caches. It must exist before code that uses it runs.
    pub fn add_inline_caches(&self, env: Env, page: u32) -> Result<(), JvmError> {
        let what = || "making inline caches".to_string();
        // SAFETY: `addInlineCaches(I)V` takes one int.
        unsafe { env.void(&self.add_inline_caches, &[i(page as i32)], what) }
    }

    /// Drops a page of inline caches. Each object misses its cells from then on.
    pub fn remove_inline_caches(&self, env: Env, page: u32) -> Result<(), JvmError> {
        let what = || "dropping inline caches".to_string();
        // SAFETY: `removeInlineCaches(I)V` takes one int.
        unsafe { env.void(&self.remove_inline_caches, &[i(page as i32)], what) }
    }

    /// Makes the runtime classes drop every string and object of the application.
    pub fn forget_all(&self, env: Env) -> Result<(), JvmError> {
        let what = || "letting go of what is the application's".to_string();
        // SAFETY: `forgetAll()V` has no parameters.
        unsafe { env.void(&self.forget_all, &[], what) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::runtime_table::PACKAGE;
    use veneer_fragmenter::bytecode::decode;
    use veneer_fragmenter::classfile::{ClassFile, Code, ConstantTag};

    #[test]
    fn a_class_is_defined_after_its_superclass() {
        let mut defined = Vec::new();
        for (name, bytes) in CLASS_FILES {
            let file = ClassFile::parse(bytes).unwrap();
            assert_eq!(file.pool.class_name(file.this_class).unwrap(), name);
            let superclass = file.pool.class_name(file.super_class).unwrap().into_owned();
            let is_ours = CLASS_FILES.iter().any(|(other, _)| *other == superclass);
            assert!(!is_ours || defined.contains(&superclass), "{name}");
            defined.push(name.to_string());
        }
    }

    /// To link a call site, the JVM loads classes of the JDK and spins new ones in the thread that
    /// reached it, which may be inside a transformer of another agent. See `build.rs`.
    #[test]
    fn no_class_has_call_sites_or_constants_that_are_linked_by_bootstrap_methods() {
        for (name, bytes) in CLASS_FILES {
            let file = ClassFile::parse(bytes).unwrap();
            for index in file.pool.indices() {
                let tag = file.pool.tag(index).unwrap();
                assert!(
                    !matches!(tag, ConstantTag::InvokeDynamic | ConstantTag::Dynamic),
                    "{name}: entry {index} of the constant pool is {tag:?}"
                );
            }
        }
    }

    /// The names and descriptors are C strings in the source of [`Library::load`].
    #[test]
    fn the_last_class_has_the_methods_that_the_agent_calls() {
        let (name, bytes) = CLASS_FILES.last().unwrap();
        assert_eq!(*name, format!("{PACKAGE}VeneerAgent"));
        let file = ClassFile::parse(bytes).unwrap();
        let text = |index| file.pool.text(index).unwrap().into_owned();
        let methods = file.methods.iter();
        let declared: Vec<_> = methods
            .map(|m| (text(m.name), text(m.descriptor)))
            .collect();
        let (source, _) = include_str!("java_runtime.rs")
            .split_once("#[cfg(test)]")
            .unwrap();
        let mut calls = 0;
        for call in source.split("find(").skip(1) {
            let mut literals = call
                .split("c\"")
                .skip(1)
                .map(|s| s.split('"').next().unwrap());
            let (Some(name), Some(descriptor)) = (literals.next(), literals.next()) else {
                continue;
            };
            if descriptor.starts_with('(') && !name.contains('/') {
                calls += 1;
                let wanted = (name.to_string(), descriptor.to_string());
                assert!(declared.contains(&wanted), "{wanted:?}");
            }
        }
        assert_eq!(calls, 48);
    }

    /// `javac` notes the class of an inlined constant in the constant pool. The JVM ignores the entry
    /// unless an instruction uses it.
    #[test]
    fn no_instruction_uses_the_generated_layout() {
        const LAYOUT: &str = "java/lang/invoke/VeneerLayout";
        for (name, bytes) in CLASS_FILES {
            let file = ClassFile::parse(bytes).unwrap();
            let attributes = file.methods.iter().flat_map(|m| &m.attributes);
            for attribute in attributes.filter(|a| a.is(&file.pool, "Code")) {
                let code = Code::parse(&attribute.info).unwrap();
                for (_, instruction) in decode(&code.code).unwrap() {
                    let Some(index) = instruction.pool_index() else {
                        continue;
                    };
                    let owner = file.pool.member(index).map_or(index, |member| member.class);
                    let uses = file
                        .pool
                        .class_name(owner)
                        .is_ok_and(|class| class == LAYOUT);
                    assert!(!uses, "{name}: {instruction:?}");
                }
            }
        }
    }
}

//! The runtime classes inside the JVM (`java/`), and the agent's calls of them.

use crate::jvm::jni::{Env, Global, JvmError, Static, i, j, jclass, jobject, l};
use std::sync::OnceLock;
use veneer_fragmenter::version::VersionClass;

mod direct_reads;

macro_rules! class {
    ($name:literal) => {
        (
            concat!("java/lang/invoke/", $name),
            include_bytes!(concat!(
                env!("OUT_DIR"),
                "/classes/java/lang/invoke/",
                $name,
                ".class"
            ))
            .as_slice(),
        )
    };
}

/// In an order in which each finds what it extends.
const CLASSES: [(&str, &[u8]); 17] = [
    class!("VeneerFrame"),
    class!("VeneerReserve"),
    class!("VeneerBound"),
    class!("VeneerToken"),
    class!("VeneerGate"),
    class!("VeneerMark"),
    class!("VeneerCell"),
    class!("VeneerRuntime$1"),
    class!("VeneerClock"),
    class!("VeneerTicks"),
    class!("VeneerTables"),
    class!("VeneerTexts"),
    class!("VeneerThreads"),
    class!("VeneerObjects"),
    class!("VeneerProbe"),
    class!("VeneerWalk"),
    class!("VeneerRuntime"),
];

/// The agent's side of the runtime classes.
pub struct Library {
    handles: Global,
    idle: Global,
    /// See `VeneerRuntime.FOUND`.
    found: Global,
    token: Static,
    define: Static,
    anchor: Static,
    install: Static,
    install_resume: Static,
    set_idle: Static,
    clock: Static,
    loaded: Static,
    offset: Static,
    type_number: Static,
    unreachable: Static,
    prepare: Static,
    prepared: OnceLock<()>,
    keep: Static,
    texts: Static,
    objects: Static,
    with_value: Static,
    room_to_change: Static,
    without_place: Static,
    forget_all: Static,
    place: Static,
    shut: Static,
    open: Static,
    linked: Static,
    forget: Static,
}

impl Library {
    /// Defines the runtime classes in the boot loader, tells them where the thread table lies.
    pub fn load(env: Env, table: i64) -> Result<Library, JvmError> {
        let mut last = std::ptr::null_mut();
        let reads_directly = direct_reads::is_known(env);
        for (name, bytes) in CLASSES {
            let direct = (reads_directly && direct_reads::READERS.contains(&name))
                .then(|| direct_reads::direct(bytes))
                .transpose()
                .map_err(|e| JvmError {
                    what: format!("writing {name}"),
                    thrown: e.to_string(),
                })?;
            last = env.define(
                name,
                std::ptr::null_mut(),
                direct.as_deref().unwrap_or(bytes),
            )?;
        }
        let runtime = env.global(last);
        let find = |name, descriptor| env.static_method(&runtime, name, descriptor);
        let set_table = find(c"table", c"(J)V")?;
        env.void(set_table, &[j(table)], || {
            "handing over the thread table".into()
        })?;
        let handles = env.global(env.find(c"java/lang/invoke/MethodHandle")?);
        let found_of = find(c"found", c"()[J")?;
        let found = env.object(found_of, &[], || "reading FOUND".into())?;
        let found = env.global(found);
        let idle_of = find(c"idleToken", c"()Ljava/lang/invoke/MethodHandle;")?;
        let idle = env.global(env.object(idle_of, &[], || "reading IDLE".into())?);
        let library = Library {
            token: find(c"token", c"([I)Ljava/lang/invoke/MethodHandle;")?,
            define: find(
                c"define",
                c"(Ljava/lang/Class;Ljava/lang/String;[B[Ljava/lang/invoke/MethodHandle;[I)Ljava/lang/Class;",
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
            set_idle: find(c"idle", c"(I)V")?,
            clock: find(c"clock", c"(JJJJ)V")?,
            loaded: find(
                c"loaded",
                c"(Ljava/lang/Class;Ljava/lang/String;)Ljava/lang/Class;",
            )?,
            offset: find(c"offset", c"(Ljava/lang/Class;Ljava/lang/String;)J")?,
            type_number: find(c"type", c"(Ljava/lang/Class;)J")?,
            unreachable: find(
                c"unreachable",
                c"(Ljava/lang/Class;Ljava/lang/Class;I)Ljava/lang/String;",
            )?,
            prepare: find(c"prepare", c"()V")?,
            prepared: OnceLock::new(),
            keep: find(c"keep", c"(JJ)V")?,
            texts: find(c"texts", c"(J)J")?,
            objects: find(c"objects", c"(J)J")?,
            with_value: find(c"withValue", c"(J)J")?,
            room_to_change: find(c"roomToChange", c"(J)J")?,
            without_place: find(c"withoutPlace", c"(J)J")?,
            forget_all: find(c"forgetAll", c"()V")?,
            place: find(c"place", c"(Ljava/lang/Class;Ljava/lang/String;I)J")?,
            shut: find(c"shut", c"(I)V")?,
            open: find(c"open", c"(I)V")?,
            linked: find(c"linked", c"()V")?,
            forget: find(c"forget", c"(II)V")?,
            handles,
            idle,
            found,
        };
        // The methods above name it.
        std::mem::forget(runtime);
        Ok(library)
    }

    /// Whether the JVM finds the agent's natives. It does from its start on, and when loading the agent has ended.
    pub fn is_linked(&self, env: Env) -> bool {
        env.void(self.linked, &[], || "linking natives".into())
            .is_ok()
    }

    /// The thread that is just ending does not own its counters any more.
    pub fn thread_ends(&self, env: Env, tid: i64) {
        let at = 2 * crate::data::shards::thread_row(tid) as i32;
        env.set_long(self.found.raw(), at, 0);
    }

    /// The token of the armed body.
    pub fn idle(&self) -> jobject {
        self.idle.raw()
    }

    /// A token for one version of one method, or, with offsets of counters, for the armed body with these counters at its entry; a
    /// local reference.
    pub fn token(&self, env: Env, offsets: &[i32]) -> Result<jobject, JvmError> {
        let offsets = env.ints(offsets)?;
        let token = env.object(self.token, &[l(offsets)], || "making a token".into());
        env.delete(offsets);
        token
    }

    /// Defines a version class beside its host.
    pub fn define(
        &self,
        env: Env,
        host: jclass,
        class: &VersionClass,
        tokens: &[jobject],
    ) -> Result<jclass, JvmError> {
        let tokens = env.objects(self.handles.raw(), tokens)?;
        let bytes = env.bytes(&class.bytes)?;
        let name = env.new_string(&class.name)?;
        let places = env.ints(&class.places)?;
        let arguments = [l(host), l(name), l(bytes), l(tokens), l(places)];
        env.object(self.define, &arguments, || "defining a version".into())
    }

    /// Fills the cells of an anchor with the ids of its methods, and initialises it.
    pub fn anchor(&self, env: Env, anchor: jclass, ids: &[i32]) -> Result<(), JvmError> {
        let ids = env.ints(ids)?;
        let done = env.void(self.anchor, &[l(anchor), l(ids)], || {
            "filling an anchor".into()
        });
        env.delete(ids);
        done
    }

    /// Makes a version current: new activations enter it. With null for the version, they run the armed body as the token says.
    pub fn install(
        &self,
        env: Env,
        id: u32,
        version: jclass,
        token: jobject,
    ) -> Result<(), JvmError> {
        let arguments = [i(id as i32), l(version), l(token)];
        env.void(self.install, &arguments, || "installing a version".into())
    }

    /// Gives a token's version a way in for running activations: the method `body`.
    pub fn install_resume(
        &self,
        env: Env,
        id: u32,
        version: jclass,
        token: jobject,
        body: &str,
    ) -> Result<(), JvmError> {
        let body = env.new_string(body)?;
        let arguments = [i(id as i32), l(version), l(token), l(body)];
        let result = env.void(self.install_resume, &arguments, || {
            "installing a way in for running activations".into()
        });
        env.delete(body);
        result
    }

    /// Clears the entries of cells that are gone. Fails where one is still there.
    pub fn forget(&self, env: Env, ids: std::ops::Range<u32>) -> Result<(), JvmError> {
        let arguments = [i(ids.start as i32), i(ids.end as i32)];
        env.void(self.forget, &arguments, || "forgetting cells".into())
    }

    /// Has timers read the function at an address. `then`: what it and `nanoTime` say at one moment. See [`crate::data::clock`].
    pub fn clock(
        &self,
        env: Env,
        address: i64,
        then: (i64, i64),
        scale: i64,
    ) -> Result<(), JvmError> {
        let arguments = [j(address), j(then.0), j(then.1), j(scale)];
        env.void(self.clock, &arguments, || {
            "setting the clock of timers".into()
        })
    }

    /// The class that another one means by an internal name, where it is loaded already; null where it is not.
    pub fn loaded(&self, env: Env, by: jclass, name: &str) -> Result<jclass, JvmError> {
        let text = env.new_string(&name.replace('/', "."))?;
        let what = || format!("looking for {name}");
        let found = env.object(self.loaded, &[l(by), l(text)], what);
        env.delete(text);
        found
    }

    /// Bytes from the beginning of an object to an instance field that its class declares.
    pub fn offset(&self, env: Env, class: jclass, field: &str) -> Result<i64, JvmError> {
        let text = env.new_string(field)?;
        let what = || format!("looking for the field {field}");
        let found = env.long(self.offset, &[l(class), l(text)], what);
        env.delete(text);
        found
    }

    /// The number of a class for casts of code at points; `None` where there are too many.
    pub fn type_number(&self, env: Env, class: jclass) -> Result<Option<i64>, JvmError> {
        let what = || "giving a class a number".to_string();
        let number = env.long(self.type_number, &[l(class)], what)?;
        Ok((number >= 0).then_some(number))
    }

    /// Why code in a class cannot name another one; `None` where it can. `accessed`: it calls methods by that name, or casts to it.
    pub fn unreachable(
        &self,
        env: Env,
        by: jclass,
        class: jclass,
        accessed: bool,
    ) -> Result<Option<String>, JvmError> {
        let arguments = [l(by), l(class), i(i32::from(accessed))];
        let what = || "asking whether a class can be reached".to_string();
        let why = env.object(self.unreachable, &arguments, what)?;
        let text = env.string(why);
        env.delete(why);
        Ok(text)
    }

    /// Before code of a plan is compiled: initialises the classes that it calls.
    pub fn prepare(&self, env: Env) -> Result<(), JvmError> {
        if self.prepared.get().is_none() {
            env.void(self.prepare, &[], || "initialising what code calls".into())?;
            let _ = self.prepared.set(());
        }
        Ok(())
    }

    /// Room for the objects on the stacks of a table with so many places.
    pub fn keep(&self, env: Env, table: i64, places: i64) -> Result<(), JvmError> {
        let what = || "making room for objects".to_string();
        env.void(self.keep, &[j(table), j(places)], what)
    }

    /// A row where a table with so many places for strings knows them by identity; 0 where there is none left.
    pub fn texts(&self, env: Env, places: i64) -> Result<u64, JvmError> {
        let what = || "making room for strings".to_string();
        Ok(env.long(self.texts, &[j(places)], what)?.max(0) as u64)
    }

    /// A new table of values that belong to objects, for so many of them: its number among these. `None` where there are too many tables.
    pub fn objects(&self, env: Env, most: u32) -> Result<Option<u64>, JvmError> {
        let what = || "making a table of values of objects".to_string();
        Ok(u64::try_from(env.long(self.objects, &[j(i64::from(most))], what)?).ok())
    }

    /// How many objects have a value in such a table, and how many found no place in it.
    pub fn with_value(&self, env: Env, table: i64) -> Result<(u64, u64), JvmError> {
        let what = || "counting values of objects".to_string();
        let with = env.long(self.with_value, &[j(table)], what)?;
        let without = env.long(self.without_place, &[j(table)], what)?;
        Ok((with.max(0) as u64, without.max(0) as u64))
    }

    /// No table keeps a string, or knows an object, any more.
    pub fn forget_all(&self, env: Env) -> Result<(), JvmError> {
        let what = || "letting go of what is the application's".to_string();
        env.void(self.forget_all, &[], what)
    }

    /// Where in the armed body the code of a version stands at this bci; negative where that is not known.
    pub fn place(
        &self,
        env: Env,
        version: jclass,
        method: &str,
        bci: i64,
    ) -> Result<i64, JvmError> {
        let name = env.new_string(method)?;
        let bci = i32::try_from(bci).unwrap_or(-1);
        let what = || format!("looking for the place of {method}");
        let found = env.long(self.place, &[l(version), l(name), i(bci)], what);
        env.delete(name);
        found
    }

    /// Whether the heap has room for what the JVM allocates when it gives up compiled code; `allocate`: garbage is collected for it.
    pub fn has_room_to_change(&self, env: Env, allocate: bool) -> bool {
        let what = || "looking at the heap".into();
        // What goes wrong here must not keep cells from changing.
        env.long(self.room_to_change, &[j(allocate.into())], what)
            .map_or(true, |room| room != 0)
    }

    /// Shuts a gate, or opens it again. See `VeneerGate`.
    pub fn turn_gate(&self, env: Env, gate: u32, open: bool) -> Result<(), JvmError> {
        let call = if open { self.open } else { self.shut };
        env.void(call, &[i(gate as i32)], || "turning a gate".into())
    }

    /// Back to the armed body.
    pub fn set_idle(&self, env: Env, id: u32) -> Result<(), JvmError> {
        env.void(self.set_idle, &[i(id as i32)], || {
            "setting a cell to IDLE".into()
        })
    }
}

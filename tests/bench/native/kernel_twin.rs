//! The kernel's algorithm and layout in native code: what the same machine does without WebAssembly.
//!
//! A peer for tests/bench, not a part of the project. It knows one executor and the operations of the big traces, reads
//! the same operation records, writes the same outcome and event records, and is timed in the same chunks.
//!
//! usage: kernel_twin OPS RDDS HEAP OFF CHUNK RUNS   (files of the bench; prints "checksum ns ns ns ...")

use std::fs;
use std::time::Duration;

const SIZE_SHIFT: u64 = 10;
const STORED: u64 = 1;
const MODE_SHIFT: u64 = 1;
const USE_DISK: u64 = 8;
const KNOWN: u64 = 16;
const LOCKED: u64 = 32;
const PARKED: u64 = 64;
const OF_RDD: u64 = 128;
const DECLARED: u64 = 256;
const NOT_IN_MEMORY: u64 = DECLARED | OF_RDD | LOCKED | KNOWN;

const REQUIREMENT_FAILED: i64 = -3;
const ASSERTION_FAILED: i64 = -1;
const BLOCK_ALREADY_PRESENT: i64 = -4;
const BLOCK_NOT_FOUND: i64 = -6;
const BLOCK_NOT_LOCKED: i64 = -7;
const BAD_BLOCK: i64 = -33;
const BAD_ARGUMENT: i64 = -34;

const ACTIVE: u32 = 1;
const UNROLLS: u32 = 4;

#[repr(C)]
#[derive(Clone, Copy)]
struct Entry {
    word: u64,
    older: u32,
    newer: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Info {
    rdd: u32,
    readers: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Rdd {
    evictable: [i64; 2],
    key: i64,
    blocks: u32,
}

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Task {
    key: i64,
    execution: [i64; 2],
    unroll: [i64; 2],
    flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Memory {
    storage_pool: i64,
    storage_used: i64,
    execution_pool: i64,
    execution_used: i64,
    max_memory: i64,
    region: i64,
    evictable: i64,
    unroll: i64,
    active_tasks: i32,
}

struct Executor {
    entries: Vec<Entry>, // the last four are the ends: entries of mode 0 and 1, parked of mode 0 and 1
    infos: Vec<Info>,
    rdds: Vec<Rdd>,
    tasks: Vec<Task>,
    memory: [Memory; 2],
    blocks: u32,
    num_entries: u32,
    events: *mut u8,
    event_count: u32,
    task_context: i64,
    failed_drops: i32,
}

/// What a bound proven elsewhere allows: block ids are checked once per operation, links and RDDs are the executor's own.
macro_rules! entry {
    ($e:expr, $i:expr) => {
        unsafe { $e.entries.get_unchecked_mut($i as usize) }
    };
}
macro_rules! info {
    ($e:expr, $i:expr) => {
        unsafe { $e.infos.get_unchecked_mut($i as usize) }
    };
}

impl Executor {
    fn new(rdd_ids: &[i32], max: [i64; 2]) -> Executor {
        let blocks = rdd_ids.len() as u32;
        let mut executor = Executor {
            entries: vec![Entry { word: 0, older: 0, newer: 0 }; blocks as usize + 4],
            infos: vec![Info { rdd: 0, readers: 0 }; blocks as usize + 4],
            rdds: Vec::new(),
            tasks: vec![Task { key: 0, execution: [0; 2], unroll: [0; 2], flags: 0 }; 64],
            memory: [Memory::default(); 2],
            blocks,
            num_entries: 0,
            events: std::ptr::null_mut(),
            event_count: 0,
            task_context: -1,
            failed_drops: -1,
        };
        for end in blocks..blocks + 4 {
            executor.entries[end as usize] = Entry { word: 0, older: end, newer: end };
        }
        for (block, &rdd) in rdd_ids.iter().enumerate() {
            executor.entries[block].word = DECLARED | if rdd >= 0 { OF_RDD } else { 0 };
            if rdd >= 0 {
                let found = executor.rdds.iter().position(|r| r.key == rdd as i64 + 1);
                executor.infos[block].rdd = found.unwrap_or_else(|| {
                    executor.rdds.push(Rdd { evictable: [0; 2], key: rdd as i64 + 1, blocks: 0 });
                    executor.rdds.len() - 1
                }) as u32;
            }
        }
        for mode in 0..2 {
            let m = &mut executor.memory[mode];
            m.max_memory = max[mode];
            m.region = max[mode] / 2;
            m.storage_pool = m.region;
            m.execution_pool = max[mode] - m.region;
        }
        executor
    }

    #[inline(always)]
    fn end(&self, mode: usize) -> u32 {
        self.blocks + mode as u32
    }

    #[inline(always)]
    fn parked(&self, mode: usize) -> u32 {
        self.blocks + 2 + mode as u32
    }

    #[inline(always)]
    fn is_declared(&self, block: i32) -> bool {
        (block as u32) < self.blocks && unsafe { self.entries.get_unchecked(block as usize) }.word & DECLARED != 0
    }

    #[inline(always)]
    fn unlink(&mut self, i: u32) {
        let Entry { older, newer, .. } = *entry!(self, i);
        entry!(self, older).newer = newer;
        entry!(self, newer).older = older;
    }

    #[inline(always)]
    fn link_newest(&mut self, i: u32, end: u32) {
        let youngest = entry!(self, end).older;
        entry!(self, i).older = youngest;
        entry!(self, i).newer = end;
        entry!(self, youngest).newer = i;
        entry!(self, end).older = i;
    }

    #[inline(always)]
    fn mode_of(word: u64) -> usize {
        (word >> MODE_SHIFT) as usize & 1
    }

    #[inline(always)]
    fn touch(&mut self, block: u32) {
        self.unlink(block);
        let word = entry!(self, block).word;
        if word & PARKED != 0 {
            entry!(self, block).word = word & !PARKED;
        }
        self.link_newest(block, self.end(Self::mode_of(word)));
    }

    #[inline(always)]
    fn add_evictable(&mut self, block: u32, mode: usize, word: u64, bytes: i64) {
        self.memory[mode].evictable += bytes;
        if word & OF_RDD != 0 {
            let rdd = info!(self, block).rdd;
            unsafe { self.rdds.get_unchecked_mut(rdd as usize) }.evictable[mode] += bytes;
        }
    }

    #[inline(always)]
    fn add_entry(&mut self, block: u32, mode: usize, size: i64, flags: u64) {
        let word = (entry!(self, block).word & NOT_IN_MEMORY) | (size as u64) << SIZE_SHIFT | flags | STORED | KNOWN;
        entry!(self, block).word = word;
        self.link_newest(block, self.end(mode));
        self.num_entries += 1;
        if word & LOCKED == 0 {
            self.add_evictable(block, mode, word, size);
        }
    }

    #[inline(always)]
    fn remove_entry(&mut self, block: u32, mode: usize) {
        let word = entry!(self, block).word;
        let size = (word >> SIZE_SHIFT) as i64;
        self.unlink(block);
        if word & LOCKED == 0 {
            self.add_evictable(block, mode, word, -size);
        }
        entry!(self, block).word = word & NOT_IN_MEMORY;
        self.release_storage(mode, size);
        self.num_entries -= 1;
    }

    #[inline(always)]
    fn release_storage(&mut self, mode: usize, size: i64) {
        let m = &mut self.memory[mode];
        m.storage_used = if size > m.storage_used { 0 } else { m.storage_used - size };
    }

    #[inline(always)]
    fn log_evicted(&mut self, block: u32, mode: usize, bytes: i64) {
        unsafe {
            let record = self.events.add((self.event_count as usize) << 4);
            *record = 1;
            *record.add(1) = mode as u8;
            *(record.add(2) as *mut u16) = 0;
            *(record.add(4) as *mut u32) = block;
            *(record.add(8) as *mut f64) = bytes as f64;
        }
        self.event_count += 1;
    }

    #[inline(always)]
    fn evict(&mut self, mode: usize, space: i64, except_rdd: i64) -> i64 {
        let mut evictable = self.memory[mode].evictable;
        if except_rdd >= 0 {
            evictable -= unsafe { self.rdds.get_unchecked(except_rdd as usize) }.evictable[mode];
        }
        if space > evictable {
            return 0;
        }
        let end = self.end(mode);
        let mut freed = 0;
        let mut block = entry!(self, end).newer;
        while freed < space {
            let Entry { word, older, newer } = *entry!(self, block);
            if word & LOCKED != 0 {
                if older == end {
                    self.unlink(block);
                    entry!(self, block).word |= PARKED;
                    self.link_newest(block, self.parked(mode));
                }
            } else if except_rdd < 0 || word & OF_RDD == 0 || info!(self, block).rdd as i64 != except_rdd {
                if self.failed_drops >= 0 {
                    return -8;
                }
                let size = (word >> SIZE_SHIFT) as i64;
                freed += size;
                self.remove_entry(block, mode);
                if word & USE_DISK == 0 {
                    entry!(self, block).word &= !KNOWN;
                }
                self.log_evicted(block, mode, size);
            }
            block = newer;
        }
        freed
    }

    #[inline(always)]
    fn acquire_storage(&mut self, mode: usize, bytes: i64, except_rdd: i64) -> i64 {
        if bytes < 0 {
            return ASSERTION_FAILED;
        }
        let m = &mut self.memory[mode];
        if bytes > m.max_memory - m.execution_used {
            return 0;
        }
        if bytes > m.storage_pool - m.storage_used {
            let borrowed = (m.execution_pool - m.execution_used).min(bytes - (m.storage_pool - m.storage_used));
            if borrowed < 0 || borrowed > m.execution_pool || m.execution_pool - borrowed < m.execution_used {
                return REQUIREMENT_FAILED;
            }
            m.execution_pool -= borrowed;
            m.storage_pool += borrowed;
        }
        if m.storage_used > m.storage_pool {
            return ASSERTION_FAILED;
        }
        let to_free = bytes - (m.storage_pool - m.storage_used);
        if to_free > 0 {
            let freed = self.evict(mode, to_free, except_rdd);
            if freed < 0 {
                return freed;
            }
            let m = &self.memory[mode];
            if bytes > m.storage_pool - m.storage_used {
                return 0;
            }
        }
        self.memory[mode].storage_used += bytes;
        1
    }

    #[inline(always)]
    fn rdd_of(&mut self, block: u32) -> i64 {
        if entry!(self, block).word & OF_RDD != 0 { info!(self, block).rdd as i64 } else { -1 }
    }

    #[inline(always)]
    fn put_bytes(&mut self, block: u32, size: i64, mode: usize, flags: u64) -> i64 {
        if entry!(self, block).word & STORED != 0 {
            return BLOCK_ALREADY_PRESENT;
        }
        let rdd = self.rdd_of(block);
        let acquired = self.acquire_storage(mode, size, rdd);
        if acquired == 1 {
            self.add_entry(block, mode, size, (mode as u64) << MODE_SHIFT | flags << 2);
        }
        acquired
    }

    #[inline(always)]
    fn get(&mut self, block: u32) -> i64 {
        if entry!(self, block).word & STORED == 0 {
            return 0;
        }
        self.touch(block);
        1
    }

    fn unpark(&mut self, mode: usize, block: u32) {
        let (parked, end) = (self.parked(mode), self.end(mode));
        let youngest = entry!(self, parked).older;
        let kept = entry!(self, block).older;
        entry!(self, kept).newer = parked;
        entry!(self, parked).older = kept;
        let eldest = entry!(self, end).newer;
        entry!(self, end).newer = block;
        entry!(self, block).older = end;
        entry!(self, youngest).newer = eldest;
        entry!(self, eldest).older = youngest;
        let mut moved = block;
        while moved != eldest {
            entry!(self, moved).word &= !PARKED;
            moved = entry!(self, moved).newer;
        }
    }

    #[inline(always)]
    fn lock(&mut self, block: u32) -> i64 {
        let word = entry!(self, block).word;
        if word & KNOWN == 0 {
            return 0;
        }
        info!(self, block).readers += 1;
        if info!(self, block).readers == 1 {
            entry!(self, block).word = word | LOCKED;
            if word & STORED != 0 {
                self.add_evictable(block, Self::mode_of(word), word, -((word >> SIZE_SHIFT) as i64));
            }
        }
        1
    }

    #[inline(always)]
    fn unlock(&mut self, block: u32) -> i64 {
        let word = entry!(self, block).word;
        if word & KNOWN == 0 {
            return BLOCK_NOT_FOUND;
        }
        if info!(self, block).readers == 0 {
            return BLOCK_NOT_LOCKED;
        }
        info!(self, block).readers -= 1;
        if info!(self, block).readers == 0 {
            entry!(self, block).word = word & !LOCKED;
            if word & STORED != 0 {
                let mode = Self::mode_of(word);
                self.add_evictable(block, mode, word, (word >> SIZE_SHIFT) as i64);
                if word & PARKED != 0 {
                    self.unpark(mode, block);
                }
            }
        }
        0
    }

    #[inline(always)]
    fn remove(&mut self, block: u32) -> i64 {
        let word = entry!(self, block).word;
        if word & KNOWN == 0 {
            return 0;
        }
        if word & LOCKED != 0 {
            return 2;
        }
        if word & STORED != 0 {
            self.remove_entry(block, Self::mode_of(word));
        }
        entry!(self, block).word &= !(KNOWN | LOCKED);
        info!(self, block).readers = 0;
        (word & STORED) as i64
    }

    #[inline(always)]
    fn task(&mut self, id: i64) -> usize {
        let key = id + 2;
        let mask = self.tasks.len() - 1;
        let mut i = id as usize & mask;
        loop {
            let found = unsafe { self.tasks.get_unchecked(i) }.key;
            if found == key {
                return i;
            }
            if found == 0 {
                unsafe { self.tasks.get_unchecked_mut(i) }.key = key;
                return i;
            }
            i = (i + 1) & mask;
        }
    }

    #[inline(always)]
    fn reserve_unroll(&mut self, block: u32, bytes: i64, id: i64, mode: usize) -> i64 {
        let task = self.task(id);
        let rdd = self.rdd_of(block);
        let acquired = self.acquire_storage(mode, bytes, rdd);
        if acquired != 1 {
            return acquired;
        }
        let task = unsafe { self.tasks.get_unchecked_mut(task) };
        task.flags |= UNROLLS << mode;
        task.unroll[mode] += bytes;
        self.memory[mode].unroll += bytes;
        1
    }

    #[inline(always)]
    fn release_unroll(&mut self, bytes: i64, id: i64, mode: usize) {
        let i = self.task(id);
        let task = unsafe { self.tasks.get_unchecked_mut(i) };
        if task.flags & UNROLLS << mode == 0 {
            return;
        }
        let released = bytes.min(task.unroll[mode]);
        if released > 0 {
            task.unroll[mode] -= released;
        }
        if task.unroll[mode] == 0 {
            task.flags &= !(UNROLLS << mode);
        }
        if released > 0 {
            self.memory[mode].unroll -= released;
            self.release_storage(mode, released);
        }
    }

    #[inline(always)]
    fn acquire_execution(&mut self, mode: usize, bytes: i64, id: i64) -> i64 {
        if bytes <= 0 {
            return if bytes == 0 { -2 } else { ASSERTION_FAILED };
        }
        let i = self.task(id);
        let task = unsafe { self.tasks.get_unchecked_mut(i) };
        if task.flags & ACTIVE << mode == 0 {
            task.flags |= ACTIVE << mode;
            self.memory[mode].active_tasks += 1;
        }
        let current = task.execution[mode];
        let need = bytes - (self.memory[mode].execution_pool - self.memory[mode].execution_used);
        if need > 0 {
            let grown = self.grow_execution(mode, need);
            if grown < 0 {
                return grown;
            }
        }
        let m = &mut self.memory[mode];
        let max_pool = m.max_memory - m.storage_used.min(m.region);
        let n = m.active_tasks as i64;
        let free = m.execution_pool - m.execution_used;
        let wanted = current + bytes;
        let mut granted = bytes;
        if bytes > free || n > 512 || wanted > 1 << 53 || wanted * n > max_pool {
            let (max_share, min_share) = (max_pool / n, m.execution_pool / (2 * n));
            granted = bytes.min((max_share - current).max(0)).min(free);
            if granted < bytes && current + granted < min_share {
                return -4096;
            }
        }
        m.execution_used += granted;
        unsafe { self.tasks.get_unchecked_mut(i) }.execution[mode] = current + granted;
        granted
    }

    #[inline(always)]
    fn grow_execution(&mut self, mode: usize, need: i64) -> i64 {
        let m = &self.memory[mode];
        let free = m.storage_pool - m.storage_used;
        let reclaimable = free.max(m.storage_pool - m.region);
        if reclaimable <= 0 {
            return 0;
        }
        let space = need.min(reclaimable);
        let mut reclaimed = space.min(free);
        if space > reclaimed {
            let evicted = self.evict(mode, space - reclaimed, -1);
            if evicted < 0 {
                return evicted;
            }
            reclaimed += evicted;
        }
        let m = &mut self.memory[mode];
        if reclaimed < 0 || reclaimed > m.storage_pool || m.storage_pool - reclaimed < m.storage_used {
            return REQUIREMENT_FAILED;
        }
        m.storage_pool -= reclaimed;
        m.execution_pool += reclaimed;
        0
    }

    #[inline(always)]
    fn release_execution(&mut self, mode: usize, bytes: i64, id: i64) {
        let i = self.task(id);
        let task = unsafe { self.tasks.get_unchecked_mut(i) };
        if task.flags & ACTIVE << mode == 0 {
            return;
        }
        let released = bytes.min(task.execution[mode]);
        self.memory[mode].execution_used -= released;
        task.execution[mode] -= released;
        if task.execution[mode] <= 0 {
            task.flags &= !(ACTIVE << mode);
            self.memory[mode].active_tasks -= 1;
        }
    }

    #[inline(always)]
    fn run(&mut self, code: u8, mode: usize, flags: u64, subject: i32, amount: f64) -> i64 {
        let bytes = amount as i64;
        if bytes as f64 != amount || mode > 1 {
            return BAD_ARGUMENT;
        }
        let block = subject as u32;
        match code {
            0 => if self.is_declared(subject) { self.put_bytes(block, bytes, mode, flags) } else { BAD_BLOCK },
            1 => if self.is_declared(subject) { self.get(block) } else { BAD_BLOCK },
            2 => if self.is_declared(subject) { self.remove(block) } else { BAD_BLOCK },
            3 => if self.is_declared(subject) { self.lock(block) } else { BAD_BLOCK },
            4 => if self.is_declared(subject) { self.unlock(block) } else { BAD_BLOCK },
            5 => {
                if !self.is_declared(subject) {
                    return BAD_BLOCK;
                }
                let rdd = self.rdd_of(block);
                self.acquire_storage(mode, bytes, rdd)
            }
            6 => {
                self.release_storage(mode, bytes);
                0
            }
            7 => if self.is_declared(subject) { self.reserve_unroll(block, bytes, self.task_context, mode) } else { BAD_BLOCK },
            8 => {
                self.release_unroll(bytes, self.task_context, mode);
                0
            }
            9 => self.acquire_execution(mode, bytes, subject as i64),
            10 => {
                self.release_execution(mode, bytes, subject as i64);
                0
            }
            11 => {
                let i = self.task(subject as i64);
                let [on, off] = unsafe { self.tasks.get_unchecked(i) }.execution;
                self.release_execution(0, on, subject as i64);
                self.release_execution(1, off, subject as i64);
                on + off
            }
            15 => {
                if !self.is_declared(subject) {
                    return BAD_BLOCK;
                }
                if self.get(block) != 0 {
                    return 2;
                }
                self.put_bytes(block, bytes, mode, flags)
            }
            _ => BAD_ARGUMENT,
        }
    }

    #[inline(never)]
    fn run_batch(&mut self, operations: *const u8, outcomes: *mut u8, count: usize) {
        for i in 0..count {
            unsafe {
                let o = operations.add(i << 4);
                let answer = self.run(
                    *o,
                    *o.add(1) as usize,
                    *(o.add(2) as *const u16) as u64,
                    *(o.add(4) as *const i32),
                    *(o.add(8) as *const f64),
                );
                let outcome = outcomes.add(i << 4);
                *(outcome as *mut f64) = answer as f64;
                *(outcome.add(8) as *mut u32) = self.event_count;
            }
        }
    }
}

fn mix(hash: u64, value: i64) -> u64 {
    (hash ^ value as u64).wrapping_mul(0x100000001b3)
}

/// The CPU time of this thread.
fn cpu_time() -> Duration {
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanos: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
    let mut time = Timespec { seconds: 0, nanos: 0 };
    unsafe { clock_gettime(3, &mut time) };
    Duration::new(time.seconds as u64, time.nanos as u32)
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let operations = fs::read(&args[1]).expect("operations");
    let rdds: Vec<i32> = fs::read(&args[2])
        .expect("rdds")
        .chunks_exact(4)
        .map(|b| i32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    let max: [i64; 2] = [args[3].parse().unwrap(), args[4].parse().unwrap()];
    let chunk: usize = args[5].parse().unwrap();
    let runs: usize = args[6].parse().unwrap();
    let count = operations.len() / 16;
    // 8-byte aligned buffers, as in the linear memory
    let mut input = vec![0u64; chunk * 2];
    let mut output = vec![0u64; chunk * 2];
    let mut events = vec![0u64; (rdds.len() + 65536 * 4) * 2];
    let mut times: Vec<Vec<u64>> = vec![Vec::new(); count.div_ceil(chunk)];
    let mut checksum = 0;
    for _ in 0..runs {
        let mut executor = Executor::new(&rdds, max);
        let mut hash = 0xcbf29ce484222325;
        executor.events = events.as_mut_ptr() as *mut u8;
        for (c, part) in operations.chunks(chunk * 16).enumerate() {
            let n = part.len() / 16;
            unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), input.as_mut_ptr() as *mut u8, part.len()) };
            executor.event_count = 0;
            let start = cpu_time();
            executor.run_batch(input.as_ptr() as *const u8, output.as_mut_ptr() as *mut u8, n);
            times[c].push((cpu_time() - start).as_nanos() as u64);
            let mut before = 0;
            for i in 0..n {
                let after = output[2 * i + 1] as u32;
                hash = mix(mix(hash, f64::from_bits(output[2 * i]) as i64), (after - before) as i64);
                before = after;
            }
        }
        checksum = hash;
    }
    let total: u64 = times
        .iter_mut()
        .map(|t| {
            t.sort_unstable();
            t[t.len() / 2]
        })
        .sum();
    println!("{checksum:x} {total}");
}

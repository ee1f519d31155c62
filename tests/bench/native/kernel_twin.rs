//! The kernel's algorithm and layout in native code: what the same machine does without WebAssembly.
//!
//! A peer for tests/bench, not a part of the project. It knows one executor and the operations of the bench's traces,
//! reads the same 16-byte operations, writes the answers and the same 16-byte events, and is timed in the same chunks.
//! Blocks, entries, RDDs and tasks are the records of assembly/layout.ts, linked by offsets into one arena.
//!
//! usage: kernel_twin OPS RDDS HEAP OFF CHUNK RUNS   prints the checksum and the median CPU nanoseconds of a run

use std::fs;
use std::time::Duration;

const STORED: u64 = 1;
const STORED_OFF_HEAP_SHIFT: u64 = 1;
const PARKED: u64 = 4;
const ENTRY: u64 = 0xffffffe0;
const DECLARED: u64 = 1 << 32;
const RDD_SHIFT: u64 = 32;
const RDD: u64 = 0xffffffe0 << 32;
const UNKNOWN: u64 = DECLARED | RDD;
const KNOWN_STILL: u64 = UNKNOWN | ENTRY;
const USE_DISK: u32 = 2;
const ENTRY_RDD: u32 = 0xffffffe0;

const ASSERTION_FAILED: i64 = -1;
const INVALID_NUMBER_OF_BYTES: i64 = -2;
const REQUIREMENT_FAILED: i64 = -3;
const BLOCK_ALREADY_PRESENT: i64 = -4;
const BLOCK_NOT_FOUND: i64 = -6;
const BLOCK_NOT_LOCKED: i64 = -7;
const BAD_BLOCK: i64 = -33;
const BAD_ARGUMENT: i64 = -34;
const OUT_OF_MEMORY: i64 = -36;
const WAITS: i64 = -2048;
const FIRST_TICKET: i64 = -4096;

const STORAGE_OVER_RELEASE: u64 = 6;
const EXECUTION_OVER_RELEASE: u64 = 7;
const HELD: u64 = 8;
const LARGEST_USE: i64 = 1 << 60;

const ACTIVE: u32 = 1;
const UNROLLS: u32 = 4;

const TASKS: u32 = 64;

#[repr(C)]
struct BlockInfo {
    word: u64,
}

#[repr(C)]
struct Entry {
    size: i64,
    older: u32,
    newer: u32,
    block: u32,
    readers: u32,
    rdd: u32,
    reserved: u32,
}

/// A cache line, so that the arena begins where one does.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u64; 8]);

#[repr(C)]
struct Rdd {
    evictable: [i64; 2],
    key: i64,
    blocks: u32,
}

#[repr(C)]
struct Task {
    key: i64,
    execution: [i64; 2],
    unroll: [i64; 2],
    flags: u32,
    reserved: [u32; 5],
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
    unmanaged: i64,
    evictable: i64,
    unroll: i64,
    active_tasks: i64,
    /// Offsets of the ends of the two lists.
    entries: u32,
    parked: u32,
}

#[repr(C)]
struct Operation {
    code: u8,
    mode: u8,
    flags: u16,
    subject: i32,
    bytes: i64,
}

struct Executor {
    arena: *mut u8,
    blocks: u32,
    block_end: u32,
    tasks: u32,
    no_rdd: u32,
    num_entries: u32,
    rules: u32,
    num_waiting: u32,
    waiting_capacity: u32,
    notified: u32,
    drops_before_failure: i32,
    keeps_dropped: u32,
    free_entry: u32,
    task_context: i64,
    memory: [Memory; 2],
    next_event: *mut u8,
    operation: u32,
}

impl Executor {
    fn new(rdd_ids: &[i32], max: [i64; 2]) -> Executor {
        let mut keys: Vec<i32> = rdd_ids.iter().copied().filter(|&rdd| rdd >= 0).collect();
        keys.sort_unstable();
        keys.dedup();
        let block_end = rdd_ids.len() as u32;
        let tasks = 64;
        let no_rdd = tasks + TASKS * 64;
        let ends = no_rdd + 32 * (keys.len() as u32 + 1);
        let blocks = ends + 4 * 32;
        let first_entry = blocks + (block_end * 8).next_multiple_of(64);
        let bytes = (first_entry + block_end * 32) as usize;
        let arena = Box::leak(vec![Line([0; 8]); bytes / 64 + 1].into_boxed_slice()).as_mut_ptr();
        let mut executor = Executor {
            arena: arena as *mut u8,
            blocks,
            block_end,
            tasks,
            no_rdd,
            num_entries: 0,
            rules: 0,
            num_waiting: 0,
            waiting_capacity: 8,
            notified: 0,
            drops_before_failure: -1,
            keeps_dropped: 0,
            free_entry: 0,
            task_context: -1,
            memory: [Memory::default(); 2],
            next_event: std::ptr::null_mut(),
            operation: 0,
        };
        for i in 0..4 {
            let end = executor.entry_at(ends + i * 32);
            end.older = ends + i * 32;
            end.newer = end.older;
        }
        for (id, &rdd) in rdd_ids.iter().enumerate() {
            let record = if rdd < 0 { no_rdd } else { no_rdd + 32 * (1 + keys.binary_search(&rdd).unwrap() as u32) };
            executor.block(id as u32).word = DECLARED | (record as u64) << RDD_SHIFT;
        }
        for i in (0..block_end).rev() {
            executor.free_entries(first_entry + i * 32, first_entry + i * 32);
        }
        for mode in 0..2 {
            let m = &mut executor.memory[mode];
            m.max_memory = max[mode];
            m.region = max[mode] / 2;
            m.storage_pool = m.region;
            m.execution_pool = max[mode] - m.region;
            m.entries = ends + mode as u32 * 32;
            m.parked = ends + 64 + mode as u32 * 32;
        }
        executor
    }

    /// The record at an offset; offsets come from the executor's own links, ids are checked once per operation.
    #[inline(always)]
    fn entry_at<'a>(&self, offset: u32) -> &'a mut Entry {
        unsafe { &mut *(self.arena.add(offset as usize) as *mut Entry) }
    }

    #[inline(always)]
    fn block<'a>(&self, id: u32) -> &'a mut BlockInfo {
        unsafe { &mut *(self.arena.add((self.blocks + id * 8) as usize) as *mut BlockInfo) }
    }

    #[inline(always)]
    fn entry_of(word: u64) -> u32 {
        (word & ENTRY) as u32
    }

    #[inline(always)]
    fn take_entry(&mut self, id: u32) -> u32 {
        let offset = self.free_entry;
        let entry = self.entry_at(offset);
        self.free_entry = entry.newer;
        entry.block = id;
        entry.readers = 0;
        offset
    }

    #[inline(always)]
    fn free_entries(&mut self, first: u32, last: u32) {
        self.entry_at(last).newer = self.free_entry;
        self.free_entry = first;
    }

    #[inline(always)]
    fn rdd_at<'a>(&self, offset: u32) -> &'a mut Rdd {
        unsafe { &mut *(self.arena.add(offset as usize) as *mut Rdd) }
    }

    #[inline(always)]
    fn task_at<'a>(&self, i: u32) -> &'a mut Task {
        unsafe { &mut *(self.arena.add((self.tasks + i * 64) as usize) as *mut Task) }
    }

    #[inline(always)]
    fn has_record(&self, id: u32) -> bool {
        id < self.block_end
    }

    #[inline(always)]
    fn is_declared(&self, id: u32) -> bool {
        self.has_record(id) && self.block(id).word & DECLARED != 0
    }

    #[inline(always)]
    fn mode_of(word: u64) -> usize {
        (word >> STORED_OFF_HEAP_SHIFT) as usize & 1
    }

    #[inline(always)]
    fn rdd_of(word: u64) -> u32 {
        ((word & RDD) >> RDD_SHIFT) as u32
    }

    /// The offset of a block's RDD, 0 when it is of none.
    #[inline(always)]
    fn except_of(&self, word: u64) -> u32 {
        let rdd = Self::rdd_of(word);
        if rdd == self.no_rdd { 0 } else { rdd }
    }

    #[inline(always)]
    fn unlink(&mut self, offset: u32) {
        let Entry { older, newer, .. } = *self.entry_at(offset);
        self.entry_at(older).newer = newer;
        self.entry_at(newer).older = older;
    }

    #[inline(always)]
    fn link_newest(&mut self, offset: u32, end: u32) {
        let youngest = self.entry_at(end).older;
        let entry = self.entry_at(offset);
        entry.older = youngest;
        entry.newer = end;
        self.entry_at(youngest).newer = offset;
        self.entry_at(end).older = offset;
    }

    #[inline(always)]
    fn link_newer_than(&mut self, offset: u32, older: u32) {
        self.entry_at(offset).older = older;
        self.entry_at(older).newer = offset;
    }

    #[inline(always)]
    fn touch(&mut self, block: &mut BlockInfo) {
        let word = block.word;
        let offset = Self::entry_of(word);
        self.unlink(offset);
        if word & PARKED != 0 {
            block.word = word & !PARKED;
        }
        self.link_newest(offset, self.memory[Self::mode_of(word)].entries);
    }

    #[inline(always)]
    fn add_evictable(&mut self, mode: usize, rdd: u32, bytes: i64) {
        self.memory[mode].evictable += bytes;
        self.rdd_at(rdd).evictable[mode] += bytes;
    }

    #[inline(always)]
    fn add_entry(&mut self, mode: usize, id: u32, size: i64, put_flags: u32) {
        let block = self.block(id);
        let mut word = block.word & KNOWN_STILL;
        if word & ENTRY == 0 {
            word |= self.take_entry(id) as u64;
        }
        block.word = word | (mode as u64) << STORED_OFF_HEAP_SHIFT | STORED;
        let rdd = Self::rdd_of(word);
        let offset = Self::entry_of(word);
        let entry = self.entry_at(offset);
        entry.size = size;
        entry.rdd = rdd | put_flags;
        self.link_newest(offset, self.memory[mode].entries);
        self.num_entries += 1;
        if entry.readers == 0 {
            self.add_evictable(mode, rdd, size);
        }
    }

    #[inline(never)]
    fn remove_entry(&mut self, block: &mut BlockInfo) {
        let word = block.word;
        let offset = Self::entry_of(word);
        let size = self.entry_at(offset).size;
        let mode = Self::mode_of(word);
        self.unlink(offset);
        self.free_entries(offset, offset);
        self.add_evictable(mode, Self::rdd_of(word), -size);
        block.word = word & UNKNOWN;
        self.release_storage(mode, size);
        self.num_entries -= 1;
    }

    #[inline(always)]
    fn release_storage(&mut self, mode: usize, size: i64) {
        let used = self.memory[mode].storage_used;
        if size > used {
            self.log_over_release(STORAGE_OVER_RELEASE, mode, size, used);
        }
        self.memory[mode].storage_used = if size > used { 0 } else { used - size };
    }

    #[inline(never)]
    fn log_over_release(&mut self, kind: u64, mode: usize, released: i64, held: i64) {
        for (kind, bytes) in [(kind, released), (HELD, held)] {
            unsafe {
                *(self.next_event as *mut u64) = kind | (mode as u64) << 8 | (self.operation as u64) << 16;
                *(self.next_event.add(8) as *mut f64) = bytes as f64;
                self.next_event = self.next_event.add(16);
            }
        }
    }

    #[inline(always)]
    fn can_release(used: i64, bytes: i64) -> bool {
        bytes >= 0 || bytes >= -LARGEST_USE && used <= LARGEST_USE + bytes
    }

    #[inline(never)]
    fn evict_blocks_to_free_space(&mut self, mode: usize, space: i64, except_rdd: u32) -> i64 {
        self.evict(mode, space, except_rdd)
    }

    #[inline(always)]
    fn evict(&mut self, mode: usize, space: i64, except_rdd: u32) -> i64 {
        let mut evictable = self.memory[mode].evictable;
        if except_rdd != 0 {
            evictable -= self.rdd_at(except_rdd).evictable[mode];
        }
        if space > evictable {
            return 0;
        }
        if self.drops_before_failure >= 0
            || self.keeps_dropped != 0
            || self.memory[mode].storage_used < self.memory[mode].evictable
        {
            return self.evict_carefully(mode, space, except_rdd);
        }
        let head = 1 | (mode as u64) << 8 | (self.operation as u64) << 16;
        let first = self.next_event;
        let mut place = first;
        let mut freed = 0;
        let entries = self.memory[mode].entries;
        let eldest = self.entry_at(entries).newer;
        let mut offset = eldest;
        let mut last = entries;
        loop {
            let entry = self.entry_at(offset);
            let id = entry.block;
            let rdd = entry.rdd & ENTRY_RDD;
            if entry.readers != 0 || entry.rdd & USE_DISK != 0 || rdd == except_rdd {
                break;
            }
            let size = entry.size;
            freed += size;
            self.rdd_at(rdd).evictable[mode] -= size;
            self.block(id).word = DECLARED | (rdd as u64) << RDD_SHIFT;
            unsafe {
                *(place as *mut u64) = head | (id as u64) << 32;
                *(place.add(8) as *mut f64) = size as f64;
                place = place.add(16);
            }
            last = offset;
            offset = entry.newer;
            if freed >= space {
                break;
            }
        }
        if last != entries {
            self.free_entries(eldest, last);
            self.link_newer_than(offset, entries);
            self.next_event = place;
            self.num_entries -= (place as usize - first as usize) as u32 >> 4;
            self.memory[mode].evictable -= freed;
            self.memory[mode].storage_used -= freed;
        }
        if freed >= space { freed } else { freed + self.evict_carefully(mode, space - freed, except_rdd) }
    }

    #[inline(never)]
    fn evict_carefully(&mut self, mode: usize, space: i64, except_rdd: u32) -> i64 {
        let entries = self.memory[mode].entries;
        let mut freed = 0;
        let mut kept = entries;
        let mut offset = self.entry_at(kept).newer;
        while freed < space {
            let entry = self.entry_at(offset);
            let newer = entry.newer;
            if entry.readers != 0 && kept == entries {
                self.block(entry.block).word |= PARKED;
                self.link_newest(offset, self.memory[mode].parked);
            } else if entry.readers != 0 || entry.rdd & ENTRY_RDD == except_rdd {
                self.link_newer_than(offset, kept);
                kept = offset;
            } else {
                let size = entry.size;
                freed += size;
                self.drop_block(mode, offset, size);
            }
            offset = newer;
        }
        self.link_newer_than(offset, kept);
        freed
    }

    #[inline(never)]
    fn drop_block(&mut self, mode: usize, offset: u32, size: i64) {
        let Entry { rdd, block, .. } = *self.entry_at(offset);
        self.add_evictable(mode, rdd & ENTRY_RDD, -size);
        self.num_entries -= 1;
        unsafe {
            *(self.next_event as *mut u64) = 1
                | (mode as u64) << 8
                | (self.operation as u64) << 16
                | (block as u64) << 32;
            *(self.next_event.add(8) as *mut f64) = size as f64;
            self.next_event = self.next_event.add(16);
        }
        let block = self.block(block);
        if rdd & USE_DISK != 0 || self.keeps_dropped != 0 {
            block.word &= KNOWN_STILL;
        } else {
            block.word &= UNKNOWN;
            self.free_entries(offset, offset);
        }
        self.release_storage(mode, size);
    }

    #[inline(never)]
    fn acquire_storage_memory(&mut self, mode: usize, bytes: i64, except_rdd: u32) -> i64 {
        self.acquire_storage(mode, bytes, except_rdd)
    }

    #[inline(always)]
    fn acquire_storage(&mut self, mode: usize, bytes: i64, except_rdd: u32) -> i64 {
        if bytes < 0 {
            return ASSERTION_FAILED;
        }
        let m = &mut self.memory[mode];
        let mut limit = m.max_memory - m.execution_used;
        if self.rules & 16 != 0 {
            limit = (limit - m.unmanaged).max(0);
        }
        if bytes > limit || mode == 1 && self.rules & 8 != 0 {
            return 0;
        }
        let mut free = m.storage_pool - m.storage_used;
        if bytes > free {
            let lacking = if self.rules & 2 != 0 { bytes } else { bytes - free };
            let borrowed = (m.execution_pool - m.execution_used).min(lacking);
            if borrowed < 0 {
                return REQUIREMENT_FAILED;
            }
            m.execution_pool -= borrowed;
            m.storage_pool += borrowed;
            free += borrowed;
            if free < 0 {
                return ASSERTION_FAILED;
            }
            if bytes > free {
                let freed = self.evict(mode, bytes - free, except_rdd);
                if freed < 0 {
                    return freed;
                }
                if bytes > self.memory[mode].storage_pool - self.memory[mode].storage_used {
                    return 0;
                }
            }
        }
        self.memory[mode].storage_used += bytes;
        1
    }

    #[inline(always)]
    fn put(&mut self, mode: usize, id: u32, size: i64, flags: u32) -> i64 {
        let word = self.block(id).word;
        if word & (DECLARED | STORED) != DECLARED {
            return if word & STORED != 0 { BLOCK_ALREADY_PRESENT } else { BAD_BLOCK };
        }
        if self.free_entry == 0 {
            return OUT_OF_MEMORY;
        }
        let acquired = self.acquire_storage(mode, size, self.except_of(word));
        if acquired == 1 {
            self.add_entry(mode, id, size, flags);
        }
        acquired
    }

    #[inline(always)]
    fn get(&mut self, id: u32) -> i64 {
        let block = self.block(id);
        let word = block.word;
        if word & STORED == 0 {
            return if word & DECLARED != 0 { 0 } else { BAD_BLOCK };
        }
        self.touch(block);
        1
    }

    #[inline(never)]
    fn unpark(&mut self, mode: usize, offset: u32) {
        let (parked, entries) = (self.memory[mode].parked, self.memory[mode].entries);
        let youngest = self.entry_at(parked).older;
        self.link_newer_than(parked, self.entry_at(offset).older);
        let eldest = self.entry_at(entries).newer;
        self.link_newer_than(offset, entries);
        self.link_newer_than(eldest, youngest);
        let mut moved = offset;
        while moved != eldest {
            self.block(self.entry_at(moved).block).word &= !PARKED;
            moved = self.entry_at(moved).newer;
        }
    }

    #[inline(always)]
    fn lock(&mut self, id: u32) -> i64 {
        let word = self.block(id).word;
        if word & ENTRY == 0 {
            return if word & DECLARED != 0 { 0 } else { BAD_BLOCK };
        }
        let entry = self.entry_at(Self::entry_of(word));
        entry.readers += 1;
        if entry.readers == 1 && word & STORED != 0 {
            self.add_evictable(Self::mode_of(word), Self::rdd_of(word), -entry.size);
        }
        1
    }

    #[inline(always)]
    fn unlock(&mut self, id: u32) -> i64 {
        let word = self.block(id).word;
        if word & ENTRY == 0 {
            return if word & DECLARED != 0 { BLOCK_NOT_FOUND } else { BAD_BLOCK };
        }
        let entry = self.entry_at(Self::entry_of(word));
        if entry.readers == 0 {
            return BLOCK_NOT_LOCKED;
        }
        entry.readers -= 1;
        if entry.readers == 0 {
            let mode = Self::mode_of(word);
            if word & STORED != 0 {
                self.add_evictable(mode, Self::rdd_of(word), entry.size);
            }
            if word & PARKED != 0 {
                self.unpark(mode, Self::entry_of(word));
            }
        }
        0
    }

    #[inline(always)]
    fn remove(&mut self, id: u32) -> i64 {
        let block = self.block(id);
        let word = block.word;
        if word & ENTRY == 0 {
            return if word & DECLARED != 0 { 0 } else { BAD_BLOCK };
        }
        if self.entry_at(Self::entry_of(word)).readers != 0 {
            return 2;
        }
        if word & STORED != 0 {
            self.remove_entry(block);
            return 1;
        }
        let offset = Self::entry_of(word);
        self.free_entries(offset, offset);
        block.word = word & UNKNOWN;
        0
    }

    /// The task's record; the traces have fewer tasks than the table has places, so that it never grows.
    #[inline(always)]
    fn task<'a>(&self, id: i64) -> &'a mut Task {
        let first = self.task_at(id as u32 & (TASKS - 1));
        if first.key == id + 2 { first } else { self.search_or_add(id) }
    }

    #[inline(never)]
    fn search_or_add<'a>(&self, id: i64) -> &'a mut Task {
        let mut i = id as u32 & (TASKS - 1);
        while self.task_at(i).key != id + 2 && self.task_at(i).key != 0 {
            i = (i + 1) & (TASKS - 1);
        }
        let task = self.task_at(i);
        task.key = id + 2;
        task
    }

    #[inline(never)]
    fn reserve_unroll(&mut self, id: u32, bytes: i64, mode: usize) -> i64 {
        let task = self.task(self.task_context);
        let acquired = self.acquire_storage_memory(mode, bytes, self.except_of(self.block(id).word));
        if acquired != 1 {
            return acquired;
        }
        task.flags |= UNROLLS << mode;
        task.unroll[mode] += bytes;
        self.memory[mode].unroll += bytes;
        1
    }

    #[inline(never)]
    fn release_unroll(&mut self, bytes: i64, mode: usize) {
        let task = self.task(self.task_context);
        if task.flags & UNROLLS << mode == 0 {
            return;
        }
        let released = bytes.min(task.unroll[mode]);
        if released > 0 {
            task.unroll[mode] -= released;
            self.memory[mode].unroll -= released;
            self.release_storage(mode, released);
        }
        if task.unroll[mode] == 0 {
            task.flags &= !(UNROLLS << mode);
        }
    }

    #[inline(always)]
    fn acquire_execution(&mut self, mode: usize, bytes: i64, id: i64) -> i64 {
        if bytes <= 0 {
            return if bytes == 0 { INVALID_NUMBER_OF_BYTES } else { ASSERTION_FAILED };
        }
        if self.num_waiting >= self.waiting_capacity {
            return BAD_ARGUMENT;
        }
        let task = self.task(id);
        if task.flags & ACTIVE << mode == 0 {
            task.flags |= ACTIVE << mode;
            self.memory[mode].active_tasks += 1;
            self.notified = 1;
        }
        let mut free = self.memory[mode].execution_pool - self.memory[mode].execution_used;
        if bytes > free {
            let grown = self.grow_execution(mode, bytes - free);
            if grown < 0 {
                return grown;
            }
            free = self.memory[mode].execution_pool - self.memory[mode].execution_used;
        }
        let current = task.execution[mode];
        let m = &mut self.memory[mode];
        let mut max_pool = m.max_memory - m.storage_used.min(m.region);
        if self.rules & 16 != 0 {
            max_pool = (max_pool - m.unmanaged).max(0);
        }
        let n = m.active_tasks;
        let wanted = current + bytes;
        let mut granted = bytes;
        if bytes > free || n > 512 || wanted > 1 << 53 || wanted * n > max_pool {
            let (max_share, min_share) = (max_pool / n, m.execution_pool / (2 * n));
            granted = bytes.min((max_share - current).max(0)).min(free);
            if granted < bytes && current + granted < min_share {
                self.num_waiting += 1;
                return FIRST_TICKET - WAITS;
            }
        }
        task.execution[mode] = current + granted;
        m.execution_used += granted;
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
            let evicted = self.evict_blocks_to_free_space(mode, space - reclaimed, 0);
            if evicted < 0 {
                return evicted;
            }
            if self.rules & 4 == 0 {
                reclaimed += evicted;
            }
            let m = &self.memory[mode];
            if reclaimed < 0 || reclaimed > m.storage_pool || m.storage_pool - reclaimed < m.storage_used {
                return REQUIREMENT_FAILED;
            }
        }
        let m = &mut self.memory[mode];
        m.storage_pool -= reclaimed;
        m.execution_pool += reclaimed;
        0
    }

    #[inline(always)]
    fn release_execution(&mut self, mode: usize, bytes: i64, id: i64) {
        self.notified = 1;
        let task = self.task(id);
        let active = task.flags & ACTIVE << mode != 0;
        let held = if active { task.execution[mode] } else { 0 };
        if held < bytes {
            self.log_over_release(EXECUTION_OVER_RELEASE, mode, bytes, held);
        }
        if !active {
            return;
        }
        let released = bytes.min(held);
        self.memory[mode].execution_used -= released;
        task.execution[mode] = held - released;
        if held > released {
            return;
        }
        task.flags &= !(ACTIVE << mode);
        self.memory[mode].active_tasks -= 1;
    }

    #[inline(never)]
    fn release_all_execution(&mut self, id: i64) -> i64 {
        let [on, off] = self.task(id).execution;
        self.release_execution(0, on, id);
        self.release_execution(1, off, id);
        on + off
    }

    #[inline(always)]
    fn run(&mut self, o: &Operation) -> i64 {
        let id = o.subject as u32;
        let mode = o.mode as usize;
        match o.code {
            1 => if self.has_record(id) { self.get(id) } else { BAD_BLOCK },
            0 | 15 => {
                if !self.has_record(id) {
                    return BAD_BLOCK;
                }
                if o.code == 15 {
                    let found = self.get(id);
                    if found != 0 {
                        return if found == 1 { 2 } else { found };
                    }
                }
                match mode {
                    0 => self.put(0, id, o.bytes, o.flags as u32 & 3),
                    1 => self.put(1, id, o.bytes, o.flags as u32 & 3),
                    _ => BAD_ARGUMENT,
                }
            }
            9 => {
                if o.subject < -1 || mode > 1 {
                    return BAD_ARGUMENT;
                }
                self.acquire_execution(mode & 1, o.bytes, o.subject as i64)
            }
            10 => {
                if o.subject < -1 || mode > 1 || !Self::can_release(self.memory[mode & 1].execution_used, o.bytes) {
                    return BAD_ARGUMENT;
                }
                self.release_execution(mode & 1, o.bytes, o.subject as i64);
                0
            }
            2 => if self.has_record(id) { self.remove(id) } else { BAD_BLOCK },
            3 => if self.has_record(id) { self.lock(id) } else { BAD_BLOCK },
            4 => if self.has_record(id) { self.unlock(id) } else { BAD_BLOCK },
            5..=8 if mode > 1 => BAD_ARGUMENT,
            5 => {
                if !self.is_declared(id) {
                    return BAD_BLOCK;
                }
                self.acquire_storage_memory(mode & 1, o.bytes, self.except_of(self.block(id).word))
            }
            6 => {
                if !Self::can_release(self.memory[mode & 1].storage_used, o.bytes) {
                    return BAD_ARGUMENT;
                }
                self.release_storage(mode & 1, o.bytes);
                0
            }
            7 => if self.is_declared(id) { self.reserve_unroll(id, o.bytes, mode & 1) } else { BAD_BLOCK },
            8 => {
                self.release_unroll(o.bytes, mode & 1);
                0
            }
            11 => if o.subject < -1 { BAD_ARGUMENT } else { self.release_all_execution(o.subject as i64) },
            _ => BAD_ARGUMENT,
        }
    }

    /// Runs the operations in place: the answers take the place of the bytes.
    #[inline(never)]
    fn run_batch(&mut self, operations: &mut [Operation]) {
        for (i, operation) in operations.iter_mut().enumerate() {
            self.operation = i as u32;
            let answer = self.run(operation);
            operation.bytes = (answer as f64).to_bits() as i64;
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
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    let mut time = Timespec { seconds: 0, nanos: 0 };
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.seconds as u64, time.nanos as u32)
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let operations = fs::read(&args[1]).expect("operations");
    let rdds: Vec<i32> = fs::read(&args[2])
        .expect("rdds")
        .chunks_exact(4)
        .map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    let max: [i64; 2] = [args[3].parse().unwrap(), args[4].parse().unwrap()];
    let chunk: usize = args[5].parse().unwrap();
    let runs: usize = args[6].parse().unwrap();
    let count = operations.len() / 16;
    let mut buffer = vec![0u64; chunk * 2];
    let mut events = vec![0u64; (rdds.len() + chunk * 5) * 2];
    let mut times: Vec<Vec<u64>> = vec![Vec::new(); count.div_ceil(chunk)];
    let mut checksum = 0;
    for _ in 0..runs {
        let mut executor = Executor::new(&rdds, max);
        let mut hash = 0xcbf29ce484222325;
        let mut counts = vec![0i64; chunk];
        for (c, part) in operations.chunks(chunk * 16).enumerate() {
            let n = part.len() / 16;
            unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), buffer.as_mut_ptr() as *mut u8, part.len()) };
            let batch = unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr() as *mut Operation, n) };
            let first = events.as_mut_ptr() as *mut u8;
            executor.next_event = first;
            let start = cpu_time();
            executor.run_batch(batch);
            times[c].push((cpu_time() - start).as_nanos() as u64);
            counts.fill(0);
            let written = (executor.next_event as usize - first as usize) / 16;
            for event in events.chunks_exact(2).take(written) {
                counts[(event[0] >> 16) as usize & 0xffff] += i64::from(event[0] & 0xff == 1);
            }
            for (i, operation) in batch.iter().enumerate() {
                hash = mix(mix(hash, f64::from_bits(operation.bytes as u64) as i64), counts[i]);
            }
        }
        checksum = hash;
    }
    let total: u64 = times
        .iter_mut()
        .map(|chunk| {
            chunk.sort_unstable();
            chunk[chunk.len() / 2]
        })
        .sum();
    println!("{checksum:x} {total}");
}

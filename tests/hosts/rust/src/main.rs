//! The kernel in Rust: cargo run --release -- KERNEL.WASM TRACE.TXT
use std::{env, error::Error, fs, time::Instant};
use wasmi::{Engine, Linker, Module, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = env::args().skip(1).collect();
    let engine = Engine::default();
    let mut store = Store::new(&engine, ());
    let module = Module::new(&engine, fs::read(&files[0])?)?;
    let kernel = Linker::<()>::new(&engine).instantiate_and_start(&mut store, &module)?;
    let constant = |store: &Store<()>, name| kernel.get_global(store, name).and_then(|global| global.get(store).i32());
    assert_eq!(constant(&store, "ABI_VERSION"), Some(1), "another version of the kernel's ABI");

    // createExecutor, declareBlock with all RDDs, then CODE MODE FLAGS SUBJECT BYTES = ANSWER, last the state
    let trace = fs::read_to_string(&files[1])?;
    let lines: Vec<Vec<&str>> = trace.lines().map(|line| line.split(' ').collect()).collect();
    let layout = lines[0][1..5].iter().map(|size| size.parse()).collect::<Result<Vec<f64>, _>>()?;
    let rdds = lines[1][1..].iter().map(|rdd| rdd.parse()).collect::<Result<Vec<i32>, _>>()?;
    let (mut batch, operations) = (Vec::new(), &lines[2..lines.len() - 1]);
    for operation in operations {
        let code = constant(&store, operation[0]).ok_or("unknown operation")?;
        batch.extend([code as u8, operation[1].parse()?]);
        batch.extend(operation[2].parse::<u16>()?.to_le_bytes());
        batch.extend(operation[3].parse::<i32>()?.to_le_bytes());
        batch.extend(operation[4].parse::<i64>()?.to_le_bytes());
    }

    let create = kernel.get_typed_func::<(f64, f64, f64, f64, i32), i32>(&store, "createExecutor")?;
    let declare = kernel.get_typed_func::<(i32, i32), i32>(&store, "declareBlock")?;
    let run_batch = kernel.get_typed_func::<(i32, i32), i32>(&store, "runBatch")?;
    let destroy = kernel.get_typed_func::<i32, i32>(&store, "destroyExecutor")?;
    let memory = kernel.get_memory(&store, "memory").ok_or("no memory")?;
    let count = operations.len() as i32;
    let address = kernel.get_typed_func::<i32, i32>(&store, "batchBuffer")?.call(&mut store, count)?;
    let replay = |store: &mut Store<()>| -> Result<i32, Box<dyn Error>> {
        let executor = create.call(&mut *store, (layout[0], layout[1], layout[2], layout[3], 0))?;
        for rdd in &rdds { declare.call(&mut *store, (executor, *rdd))?; }
        memory.write(&mut *store, address as usize, &batch)?;
        assert_eq!(run_batch.call(store, (executor, count))?, count);
        Ok(executor)
    };

    let executor = replay(&mut store)?;
    let state_number = kernel.get_typed_func::<(i32, i32), f64>(&store, "stateNumber")?;
    let mut state = String::from("state");
    for i in 0..13 { state += &format!(" {}", state_number.call(&mut store, (executor, i))?); }
    assert_eq!(Some(state.as_str()), trace.lines().last(), "left: reached, right: in Spark");

    let (start, mut rounds) = (Instant::now(), 0);
    while start.elapsed().as_secs_f64() < 0.5 {
        let executor = replay(&mut store)?;
        destroy.call(&mut store, executor)?;
        rounds += 1;
    }
    let per_second = f64::from(rounds * count) / start.elapsed().as_secs_f64();
    println!("{state}\n{per_second:.0} operations per second");
    Ok(())
}

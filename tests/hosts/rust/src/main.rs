//! The kernel in Rust: cargo run --release -- KERNEL.WASM TRACE.TXT
use std::{env, error::Error, fs, time::Instant};
use wasmi::{Engine, Func, Linker, Module, Store, Val, ValType};

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = env::args().skip(1).collect();
    let engine = Engine::default();
    let mut store = Store::new(&engine, ());
    let module = Module::new(&engine, fs::read(&files[0])?)?;
    let kernel = Linker::<()>::new(&engine).instantiate_and_start(&mut store, &module)?;
    let version = kernel.get_global(&store, "ABI_VERSION").and_then(|global| global.get(&store).i32());
    assert_eq!(version, Some(1), "another version of the kernel's ABI");

    // a line is NAME ARGUMENT... = ANSWER; the executor's handle is the first argument of all but createExecutor
    let trace = fs::read_to_string(&files[1])?;
    let mut calls: Vec<(Func, Vec<Val>, Val)> = Vec::new();
    for line in trace.lines().take_while(|line| !line.starts_with("state")) {
        let mut words = line.split(" = ").next().unwrap_or(line).split(' ');
        let function = words.next().and_then(|name| kernel.get_func(&store, name)).ok_or(line)?;
        let ty = function.ty(&store);
        let numbers = words.map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        let mut arguments = vec![Val::I32(0); ty.params().len() - numbers.len()];
        for (number, ty) in numbers.iter().zip(&ty.params()[arguments.len()..]) {
            let is_i32 = *ty == ValType::I32;
            arguments.push(if is_i32 { Val::I32(*number as i32) } else { Val::F64((*number).into()) });
        }
        calls.push((function, arguments, Val::default_for_ty(ty.results()[0])));
    }

    let replay = |store: &mut Store<()>, calls: &mut [(Func, Vec<Val>, Val)]| -> Result<i32, wasmi::Error> {
        let mut executor = Val::I32(0);
        for (i, (function, arguments, result)) in calls.iter_mut().enumerate() {
            if i > 0 { arguments[0] = executor.clone() }
            function.call(&mut *store, arguments, std::slice::from_mut(result))?;
            if i == 0 { executor = result.clone() }
        }
        Ok(executor.i32().unwrap_or(-1))
    };
    let executor = replay(&mut store, &mut calls)?;
    let state_number = kernel.get_typed_func::<(i32, i32), f64>(&store, "stateNumber")?;
    let mut state = String::from("state");
    for i in 0..13 {
        state += &format!(" {}", state_number.call(&mut store, (executor, i))?);
    }
    assert_eq!(Some(state.as_str()), trace.lines().last(), "left: reached, right: in Spark");
    println!("{state}");

    let destroy = kernel.get_typed_func::<i32, i32>(&store, "destroyExecutor")?;
    let (start, mut rounds) = (Instant::now(), 0);
    while start.elapsed().as_secs_f64() < 0.5 {
        let executor = replay(&mut store, &mut calls)?;
        destroy.call(&mut store, executor)?;
        rounds += 1;
    }
    let per_second = f64::from(rounds) * (calls.len() - 1) as f64 / start.elapsed().as_secs_f64();
    println!("{per_second:.0} operations per second");
    Ok(())
}

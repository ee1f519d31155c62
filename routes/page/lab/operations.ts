/**
 * The buttons of the lab: every operation of the memory manager and the memory store, with its fields.
 *
 * @module
 */
import { h } from "../ui/dom.ts";
import type { LabOperation, LabState } from "./state.ts";

type Field = "t" | "b" | "n" | "cnt" | "el";

interface Button {
  readonly op: string;
  readonly label: string;
  readonly title: string;
}

interface Group {
  readonly title: string;
  readonly fields: readonly Field[];
  readonly buttons: readonly Button[];
}

const LABELS: Readonly<Record<Field, string>> = {
  t: "Task",
  b: "Block",
  n: "Bytes",
  cnt: "Values",
  el: "Bytes each",
};

const GROUPS: readonly Group[] = [
  {
    title: "Execution memory",
    fields: ["t", "n"],
    buttons: [
      { op: "acqExec", label: "Acquire", title: "acquireExecutionMemory" },
      { op: "relExec", label: "Release", title: "releaseExecutionMemory" },
      { op: "relAllExec", label: "End the task", title: "releaseAllExecutionMemoryForTask" },
      { op: "cancel", label: "Interrupt", title: "interrupts a task that waits" },
    ],
  },
  {
    title: "Blocks",
    fields: ["b", "n"],
    buttons: [
      { op: "putBytes", label: "Put", title: "MemoryStore.putBytes" },
      { op: "get", label: "Read", title: "MemoryStore.getBytes or getValues" },
      { op: "lockRead", label: "Begin reading", title: "BlockInfoManager.lockForReading: it cannot be evicted" },
      { op: "unlockRead", label: "End reading", title: "BlockInfoManager.unlock" },
      { op: "remove", label: "Remove", title: "BlockManager.removeBlock" },
      { op: "contains", label: "Contains?", title: "MemoryStore.contains" },
      { op: "getSize", label: "Size", title: "MemoryStore.getSize" },
    ],
  },
  {
    title: "Caching value by value",
    fields: ["b", "cnt", "el"],
    buttons: [
      { op: "unrollPut", label: "Put the values", title: "MemoryStore.putIterator" },
    ],
  },
  {
    title: "Unroll memory",
    fields: ["t", "b", "n"],
    buttons: [
      { op: "reserveUnroll", label: "Reserve", title: "reserveUnrollMemoryForThisTask" },
      { op: "releaseUnrollTask", label: "Release", title: "releaseUnrollMemoryForThisTask" },
    ],
  },
  {
    title: "The manager itself",
    fields: ["b", "n"],
    buttons: [
      { op: "acqStorage", label: "Acquire storage", title: "acquireStorageMemory" },
      { op: "relStorage", label: "Release storage", title: "releaseStorageMemory" },
      { op: "acqUnroll", label: "Acquire unroll", title: "acquireUnrollMemory" },
      { op: "relUnroll", label: "Release unroll", title: "releaseUnrollMemory" },
      { op: "relAllStorage", label: "Release all storage", title: "releaseAllStorageMemory" },
      { op: "clear", label: "Clear the store", title: "MemoryStore.clear" },
    ],
  },
];

/** Fields that an operation's line in a trace has. */
const OPERATION_FIELDS: Readonly<Record<string, readonly (Field | "m" | "p")[]>> = {
  acqExec: ["t", "n", "m"],
  relExec: ["t", "n", "m"],
  relAllExec: ["t"],
  putBytes: ["b", "n", "m"],
  get: ["b"],
  lockRead: ["b"],
  unlockRead: ["b"],
  remove: ["b"],
  contains: ["b"],
  getSize: ["b"],
  unrollPut: ["t", "b", "cnt", "el", "p", "m"],
  reserveUnroll: ["t", "b", "n", "m"],
  releaseUnrollTask: ["t", "n", "m"],
  acqStorage: ["b", "n", "m"],
  relStorage: ["n", "m"],
  acqUnroll: ["b", "n", "m"],
  relUnroll: ["n", "m"],
  relAllStorage: [],
  clear: [],
};

/** The panel of buttons. */
export class OperationsPanel {
  readonly element: HTMLElement;
  readonly #inputs = new Map<string, HTMLInputElement>();
  readonly #mode: HTMLSelectElement;
  readonly #modeField: HTMLElement;
  readonly #problem = h("p", { class: "small", role: "alert" });
  readonly #run: (operation: LabOperation) => void;
  #state: LabState | null = null;

  /** @param run carries out an operation */
  constructor(run: (operation: LabOperation) => void) {
    this.#run = run;
    this.#mode = h(
      "select",
      { id: "op-mode" },
      h("option", { value: "ON" }, "On-heap"),
      h("option", { value: "OFF" }, "Off-heap"),
    );
    this.#modeField = h("div", { class: "field" }, h("label", { for: "op-mode" }, "Memory mode"), this.#mode);
    this.element = h(
      "div",
      { class: "ops" },
      this.#modeField,
      h("div", { class: "ops-groups" }, GROUPS.map((group, i) => this.#group(group, i))),
      this.#problem,
    );
    this.#set("0 t", "1");
    this.#set("0 n", "300");
    this.#set("1 b", "rdd_1_0");
    this.#set("1 n", "400");
    this.#set("2 b", "rdd_2_0");
    this.#set("2 cnt", "40");
    this.#set("2 el", "10");
    this.#set("3 t", "1");
    this.#set("3 b", "rdd_3_0");
    this.#set("3 n", "200");
    this.#set("4 b", "broadcast_0");
    this.#set("4 n", "100");
  }

  /** The state that operations start from. */
  update(state: LabState): void {
    this.#state = state;
    this.#modeField.hidden = state.off.max === 0;
    if (state.off.max === 0) this.#mode.value = "ON";
  }

  /** Puts a block's name into the fields. */
  chooseBlock(name: string): void {
    this.#set("1 b", name);
    this.#inputs.get("1 b")!.focus();
  }

  /** Puts a task's id into the fields. */
  chooseTask(id: number): void {
    this.#set("0 t", String(id));
    this.#inputs.get("0 t")!.focus();
  }

  #set(key: string, value: string): void {
    this.#inputs.get(key)!.value = value;
  }

  #group(group: Group, index: number): HTMLElement {
    const fields = group.fields.map((field) => {
      const id = `op-${index}-${field}`;
      const input = h("input", {
        id,
        type: "text",
        inputmode: field === "b" ? "text" : "numeric",
        autocomplete: "off",
        spellcheck: "false",
        class: field === "b" ? "mono" : null,
      });
      this.#inputs.set(`${index} ${field}`, input);
      return h("div", { class: "field" }, h("label", { for: id }, LABELS[field]), input);
    });
    const buttons = group.buttons.map(({ op, label, title }) =>
      h("button", { type: "button", class: "btn", title, onclick: () => this.#press(index, op) }, label)
    );
    return h(
      "fieldset",
      {},
      h("legend", {}, group.title),
      h("div", { class: "ops-fields" }, fields),
      h("div", { class: "btn-row" }, buttons),
    );
  }

  #press(group: number, op: string): void {
    this.#problem.textContent = "";
    try {
      this.#run(this.#operation(group, op));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#problem.textContent = error.message;
    }
  }

  /** @throws {RangeError} for a field that cannot be used, with the message to show */
  #operation(group: number, op: string): LabOperation {
    if (op === "cancel") {
      const task = this.#number(group, "t");
      const waiting = [this.#state?.on, this.#state?.off].flatMap((pools) => pools?.tasks ?? []);
      const at = waiting.find(({ id, waitsAt }) => id === task && waitsAt !== null)?.waitsAt;
      if (at === undefined || at === null) throw new RangeError(`Task ${task} does not wait.`);
      return { op, at };
    }
    const operation: Record<string, unknown> = { op };
    for (const field of OPERATION_FIELDS[op]) {
      if (field === "m") operation.m = this.#mode.value;
      else if (field === "p") operation.p = -1;
      else if (field === "b") operation.b = this.#blockName(group);
      else if (field === "t" && op === "unrollPut") operation.t = this.#number(0, "t");
      else operation[field] = this.#number(group, field);
    }
    return operation as unknown as LabOperation;
  }

  #blockName(group: number): string {
    const name = this.#inputs.get(`${group} b`)!.value.trim();
    if (!/^\w[\w-]*$/.test(name)) throw new RangeError("A block needs a name, for example rdd_1_0.");
    return name;
  }

  #number(group: number, field: Field): number {
    const input = this.#inputs.get(`${group} ${field}`)!;
    const value = Number(input.value.replaceAll(/[, ]/g, ""));
    const largest = field === "t" ? 1_000_000 : 2 ** 53 - 1;
    if (input.value.trim() === "" || !Number.isInteger(value) || value < 0 || value > largest) {
      throw new RangeError(`${LABELS[field]} must be a whole number, 0 or more.`);
    }
    return value;
  }
}

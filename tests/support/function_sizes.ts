/// <reference lib="deno.unstable" />
/**
 * How long functions are, from the syntax tree that Deno's linter makes.
 *
 * @module
 */

/** A function and its lines, from its first word to its closing brace. */
export interface FunctionSize {
  /** Its name, or that of the property, field or variable that holds it; empty for others. */
  readonly name: string;
  /** Line at which it begins, 1-based. */
  readonly line: number;
  readonly lines: number;
}

interface Named {
  readonly type: string;
  readonly name?: string;
}

/** What a node of the tree has, as far as it is asked for here. */
interface FunctionNode {
  readonly range: readonly [number, number];
  readonly id?: Named | null;
  readonly parent: { readonly key?: Named; readonly id?: Named };
}

/**
 * The functions of a source file: declarations, expressions, methods. For tests: the linter's parser is there only in `deno test`.
 */
export function functionSizes(path: string, text: string): FunctionSize[] {
  const lineAt = lineCounter(text);
  const found: FunctionSize[] = [];
  const see = (node: unknown) => {
    const { range: [start, end], id, parent } = node as FunctionNode;
    const line = lineAt(start);
    const name = (id ?? parent.key ?? parent.id)?.name ?? "";
    found.push({ name, line, lines: lineAt(end) - line + 1 });
  };
  const rule: Deno.lint.Rule = {
    create: () => ({ FunctionDeclaration: see, FunctionExpression: see, ArrowFunctionExpression: see }),
  };
  Deno.lint.runPlugin({ name: "function-sizes", rules: { sizes: rule } }, path, text);
  return found;
}

/** Gives the number of the line of a place in the text. */
function lineCounter(text: string): (offset: number) => number {
  const starts = [0];
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}

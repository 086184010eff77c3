export default class {
  go() { return 1 }
  name = "a"
  static #priv: number = 1
  constructor(private readonly db: Db, public x = 1) {}
  get size() { return 1 }
  set size(v) { }
}
export function over(a: string): void;
export function over(a: number): void;
export function over(a: any) { return a }
interface I { name: string; readonly age?: number; [k: string]: any; call(): void }
type P = { a: string; b(): void }
enum E { A, B = 2, "C-D" = 3 }
class K { over(a: string): void; over(a: any) { } }
/** Pads it. */
export function pad(text: string): string;
export function pad(
  count: number,
): string;
/** In general. */
export function pad(any: unknown): string { return `${any}`; }

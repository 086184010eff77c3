export declare function openGate(name: string): Promise<void>;
declare function globalGate(): void;
export declare class Latch {
  lift(a: number): void;
  readonly n: number;
  static make(): Latch;
}
declare module "sea" {
  export function sail(to: string): void;
  const depth: number;
}
export function plain(a: string): void;
declare const VERSION: string;
declare global { interface Window { x: number } }
export default function (a: string): void;
declare module "shop" {
  export class Till { open(): void; get size(): number; close(): void; set size(n: number); }
  export const LIMIT: number;
  let rate: number;
}
declare let first: number, second: string;
declare global { var __DEV__: boolean; }

/** A shape with an area. */
export interface Shape {
  /** The area in square metres. */
  area(scale: number): number;
}

// Colours that a shape may have.
export enum Colour { Red, Green }

namespace Geo.Plane {
  /** Distance between two points. */
  export function distance(a: number, b: number): number {
    return Math.abs(a - b);
  }
}

/**
 * Keeps shapes.
 */
@Injectable()
export abstract class Store<T extends Shape> extends Base {
  constructor(private readonly db: Db) {
    super();
  }

  /** Add one shape. */
  @logged({ level: 1 })
  async add(item: T): Promise<void> {
    await this.db.put(item);
  }

  abstract size(): number;
  onChange = (event: Event): void => {
    console.log(event);
  };
}

export const parse = (text: string): Ast => {
  return run(text);
};

function overload(a: string): void;
function overload(a: any): void {}

app.get("/shapes", async (req: Request) => {
  await load(req);
  send(req);
});

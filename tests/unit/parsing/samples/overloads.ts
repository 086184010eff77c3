/** Draw it. */
function draw(a: string): void;
function draw(a: any) {}
function other(): void;

import x from 'x';
'use strict';
const fs = require('fs');
/** Where to go. */
export const ROUTES = {
  home: '/',
};
const one = 1;
const SIZES = [1, 2];
const App = () => {
  return 1;
};
const api = {
  base: 'x',
  get() { return 1; },
};
export type Id = string | number;
export type Props = { a: string };
export interface Reader { read(): void }
enum Colour { Red }
export default {
  name: 'x',
};
app.use(x);
app.get('/', (request) => {
  open();
  send();
});
app.use(y);
app.listen(1);

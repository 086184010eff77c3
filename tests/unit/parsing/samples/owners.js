import { items } from './items';
x = 1;  // One.
function first() {}
// Licence.

function second() {}
class A {
  // First.
  @log a() {}
  b() {}
}
a = {
  get size() { return 1; },
  set size(n) {},
};
b = {
  get size() { return 2; },
};
const api = {
  get() {
  },
};
function f() {
  const state = {
    put() {
    },
  };
}
items.map((item) => {
  use(item); });
register({
  total(items) {
    return items;
  },
  drop: function () {
    return 1;
  },
});
app.routes({
  total(items) {
    return items;
  },
  drop: function () {
    return 1;
  },
});
Object.assign(Cart.prototype, {
  total(items) {
    return items;
  },
  drop: function () {
    return 1;
  },
});
app.component('cart', {
  total(items) {
    return items;
  },
  drop: function () {
    return 1;
  },
});
jQuery.fn.extend({
  total(items) {
    return items;
  },
  drop: function () {
    return 1;
  },
});
jQuery.extend({
  total(items) {
    return items;
  },
  drop: function () {
    return 1;
  },
});

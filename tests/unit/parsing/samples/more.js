export default class extends Base {
  go() { return 1 }
  name = "a"
  #x;
}

class Started {
  static {
    this.x = 1;
  }
}

Robot.prototype['jump'] = function () {
  return 1;
};
request.onerror = function handleError() {
  return 2;
};

const { read, write: put, mode = 1 } = open();
const { join } = require('path');
const [head, tail = []] = split();
export const { reset } = slice.actions;
export { put as store, head };
export * as shapes from './shapes';
export { default as Button } from './Button';

Car.prototype = {
  honk: function () { return 1; },
};
car.stop = car.halt = function () { return 2; };

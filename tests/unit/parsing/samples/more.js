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

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

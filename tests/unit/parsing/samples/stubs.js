function one() {}
function two() { throw new Error('Not implemented yet'); }
const three = (x) => x + 1;
function four() { throw new Error('No such file'); }
const a = () => {
  function b() { return 1; }
  return b;
};

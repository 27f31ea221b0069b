// Tests look at what is sent again, and seldom at when: the delays between the attempts of this process are a fiftieth of what they
// can be. Child processes wait as users do.

const { random } = Math;
Math.random = () => random() / 50;

/* A page that is shown during play loads itself again. */

setTimeout(() => location.reload(), 10000);

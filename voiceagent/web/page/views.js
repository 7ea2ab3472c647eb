// Which view is shown: the room (or the way into it), the inbox, the status; each keeps its own place.

export class Views {
  // `room` says which element is the room's now; `views` are named {box, button, view}, where a view may `open` and `leave`.
  constructor(room, views, scroller) {
    this.room = room; this.views = views; this.scroller = scroller; this.name = null; this.place = null;
    for (const [name, { button }] of Object.entries(views)) button.addEventListener("click", () => this.show(this.name === name ? null : name));
  }

  // Shows a view in place of the room; null shows the room again, with its transcript where it was.
  show(name) {
    if (name === this.name) return;
    if (this.name) this.views[this.name].view.leave();
    else this.keep();
    this.name = name;
    for (const [other, { box, button }] of Object.entries(this.views)) {
      box.hidden = other !== name;
      button.setAttribute("aria-pressed", String(other === name));
    }
    this.update();
    if (name) this.views[name].view.open(); else this.restore();
  }

  // The room's element may be another one now.
  update() {
    for (const [element, wanted] of this.room()) element.hidden = Boolean(this.name) || !wanted;
  }

  keep() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    this.place = scrollHeight - scrollTop - clientHeight < 120 ? "end" : scrollTop;
  }

  restore() {
    const top = this.place === "end" ? this.scroller.scrollHeight : this.place ?? 0;
    this.scroller.scrollTo({ top, behavior: "instant" });
  }
}

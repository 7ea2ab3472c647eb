// Whether this device is notified of urgent questions: a button that asks for it, and that takes it back.

const SUPPORTED = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

export class Push {
  // `ask` sends requests to the server, `show` opens a view, `tell` takes what went wrong.
  constructor(button, ask, show, tell) {
    this.button = button; this.ask = ask; this.tell = tell;
    if (!SUPPORTED) return;
    navigator.serviceWorker.addEventListener("message", ({ data }) => { if (data?.show) show(data.show); });
    button.addEventListener("click", () => this.toggle());
  }

  // Shows the button where the server pushes.
  async offer() {
    if (!SUPPORTED || this.key !== undefined) return;
    this.key = null;
    try {
      this.key = (await this.ask("GET", "push")).key;
      if (!this.key) return;
      this.worker = await navigator.serviceWorker.register("worker.js");
      const known = await this.worker.pushManager.getSubscription();
      if (known) await this.keep(known); // told anew: the token may be another one
      this.draw(known);
      this.button.hidden = false;
    } catch { this.key = undefined; }
  }

  draw(on) {
    this.button.setAttribute("aria-pressed", String(Boolean(on)));
    this.button.textContent = on ? "Notified of urgent ones" : "Notify me of urgent ones";
  }

  async keep(subscription) {
    const { endpoint, keys } = subscription.toJSON();
    await this.ask("POST", "push/devices", { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } });
    (this.worker.active ?? this.worker.waiting ?? this.worker.installing)?.postMessage({ address: location.href });
  }

  async toggle() {
    this.button.disabled = true;
    try {
      const known = await this.worker.pushManager.getSubscription();
      if (known) {
        await this.ask("DELETE", "push/devices", { endpoint: known.endpoint });
        await known.unsubscribe();
        this.draw(null);
      } else if (await Notification.requestPermission() === "granted") {
        const made = await this.worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: this.key });
        await this.keep(made);
        this.draw(made);
      } else this.tell("The browser was not allowed to notify you.");
    } catch (error) { this.tell(error.status ? error.message : "This browser cannot be notified now."); }
    this.button.disabled = false;
  }
}

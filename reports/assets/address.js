// What of a view is kept in the address after #, so that it can be shared: the settings by their
// factors, and under names with a dot before them, which no factor has, what else was chosen.
"use strict";
(function (doetune) {
  const parts = new URLSearchParams(location.hash.slice(1));

  doetune.address = {
    // Text that anyone may have written, or null.
    get: (key) => parts.get(key),

    // Keeps every entry; an empty text is left out.
    set(entries) {
      for (const [key, text] of Object.entries(entries)) {
        if (text === "") parts.delete(key); else parts.set(key, text);
      }
      try {
        history.replaceState(null, "", "#" + parts);
      } catch (refused) {
        // A page shown inside another may not change its address; nothing else depends on it.
      }
    },
  };
})((window.doetune = window.doetune || {}));

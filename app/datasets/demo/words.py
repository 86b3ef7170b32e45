"""What the customers of Fennick Home, a made-up maker of smart-home devices, write about.

A block begins with a label, how often it opens a ticket, and the labels that tend to come with it
(`label:probability`); its sentences follow. A block of several labels joined by `+` has sentences
that could be about any of them.
"""

BLOCKS = """
billing 330 refund:.22 subscription:.3 invoice:.1 complaint:.1
I was charged {money} twice on {date} and my bank shows both payments as settled.
The amount on my card is {money}, but the price on your site was clearly lower.
There is a charge of {money} from Fennick on my {bank} statement that I do not recognise.
My card was declined three times although it works everywhere else.
You took the money two weeks early this month, which left my account overdrawn.
Please tell me what the {money} from {date} was for.
refund 210 returns:.35 billing:.2 complaint:.15
I would like my money back for order {order}.
It has been {days} days and the {money} still has not been credited to my card.
Your colleague {name} promised that the full amount would be paid back, nothing has arrived.
Could you reverse the payment of {money}, please?
I only got part of the price back, {money} is still missing.
billing+refund+invoice
The figures do not add up for order {order}: I paid {money} and something is off.
My bank in {place} says the matter of the {money} is on your side.
I have been waiting {days} days for somebody to look at the payment for order {order}.
login 300 password-reset:.24 account:.2 app-crash:.08
I cannot sign in any more, it only says error {code}.
The app logs me out every few minutes and I have to enter everything again.
The sign-in page in {browser} just spins and then goes blank.
Since {date} my credentials are rejected on the {phone}, yet they work in {browser}.
The six-digit code from the authenticator is always refused.
Two-step verification locks me out whenever I travel to {place}.
password-reset 150 login:.35 account:.1 phishing:.01
The link in the reset mail has expired before I can open it.
I forgot my password and the recovery mail never arrives, not even in spam.
After choosing a new password I am told that it was used before, which is not true.
How do I change the password if I no longer have the old phone number?
login+password-reset+account
I am locked out and {name} at the {place} office cannot help me either.
It keeps saying that the address {mail} is unknown, but I have used it for years.
I have tried everything on the {phone} and in {browser} and cannot get in.
account 130 login:.2 subscription:.15 privacy:.1
Please change the mail address of my account to {mail}.
My wife and I want to merge our two profiles into one home.
I moved to {place} and cannot edit the address in my profile.
How can I hand the whole home over to the new owner of our flat?
app-crash 230 notifications:.12 camera:.15 firmware:.1
The app closes by itself as soon as I open the {room} view on my {phone}.
Since version {version} the app freezes on the start screen of my {phone}.
It crashed five times today and I sent the report each time, the last one was {code}.
Everything hangs for a minute when I scroll through the history, then the app is gone.
connectivity 330 hub:.34 setup:.3 camera:.26 thermostat:.18 firmware:.15 plug:.12
The {device} drops off the Wi-Fi every night around three.
Only the 2.4 GHz network is found, and even that shows one bar in the {room}.
My {device} is shown as offline although the router stands one metre away.
Since my provider swapped the router, nothing reaches the {device} any more.
The signal between the attic and the {room} is too weak, is there a repeater?
setup 240 hub:.3 connectivity:.25 camera:.2 doorbell:.12 plug:.1
The pairing stops at step {step} with the message {code}.
I scanned the sticker on the bottom of the {device} and the app says that it belongs to somebody.
The blue light keeps blinking and the {device} never shows up in the list.
Where do I find the eleven-digit code to add the {device}?
The manual says to hold the button for ten seconds, I tried that in the {room} for an hour.
connectivity+setup+hub
The light on the {device} is orange and nothing happens.
The {device} in the {room} is not found, message {code}.
I have restarted the {device} four times and it made no difference.
shipping 230 complaint:.15 returns:.1
Where is my parcel? Order {order} was supposed to be here on {date}.
The tracking number has not moved since it left {place}.
The courier left the box in the rain and the neighbour's dog had it first.
Only one of two boxes was delivered.
Can order {order} still go to {place} instead?
returns 140 refund:.45 shipping:.12 warranty:.08
I want to send the {device} back, please mail me the label.
The drop-off point in {place} refuses the box without a form.
The {device} is unused and still sealed, how many days do I have to give it back?
I sent order {order} back on {date} and the page still says that you wait for it.
returns+refund+warranty
I do not want to keep the {device} that came with order {order}.
The {device} from {shop} is useless to me, what are my options?
warranty 140 camera:.2 thermostat:.15 battery:.15 doorbell:.12 returns:.15
The {device} died after {months} months, so it should still be covered.
The shop, {shop}, says that the maker has to repair it.
There is a crack in the housing of the {device} that I did not cause.
Do I need the original receipt to get a replacement?
subscription 200 billing:.3 cancellation:.25 discount:.1 account:.08
What exactly is the difference between {plan} and the free plan?
I upgraded to {plan}, but the app still offers it to me.
My {plan} was renewed for another year without a warning.
Can the {plan} cover two homes, one in {place} and one in {place}?
cancellation 110 subscription:.45 refund:.2 complaint:.15
Please end {plan} as of {date} and confirm it in writing.
I have looked everywhere for the button to terminate and there is none.
I gave notice on {date}, why is it still running?
subscription+cancellation+billing
I no longer use {plan} and still pay {money} for it.
What happens to my {plan} after {date}?
camera 190 connectivity:.2 notifications:.2 privacy:.12 battery:.1
The picture of the {camera} in the {room} is purple at night.
The recording stops after three seconds, just when it gets interesting.
The {camera} only shows a black screen with a small loading circle.
The motion zones of the {camera} move back to their old place after every edit.
thermostat 150 connectivity:.15 firmware:.12 battery:.1
It is 27 degrees in the {room} while the {thermo} claims that it is 19.
The heating schedule skips the mornings at the weekend.
Our boiler does not react to the {thermo} at all.
The {thermo} clicks all night long and the radiator stays cold.
doorbell 110 notifications:.25 battery:.25 camera:.15
Nobody hears the chime when visitors press the button at the gate.
The {bell} rings by itself at night when it is windy.
The voice of the visitor on the {bell} is so choppy that I cannot understand the postman.
hub 70 connectivity:.3 firmware:.2 voice-assistant:.1
The {hub} gets so hot on the shelf that I can hardly touch it.
How many devices can one {hub} take? I am at forty.
All routines that run on the {hub} fire two hours late since the clocks changed.
plug 80 voice-assistant:.2 setup:.15 hub:.1
The {plug} switches the lamp on at noon for no reason.
The consumption that the {plug} shows for the freezer cannot be right.
The {plug} makes a humming noise behind the sofa.
battery 110 camera:.25 doorbell:.2 thermostat:.15
It is empty again after {days} days, the box says half a year.
The charge jumps from 80 to 5 percent when it is cold outside.
Which cells fit into the {device}, and can I use rechargeable ones?
firmware 110 hub:.25 camera:.15 thermostat:.15 complaint:.06
The update to {version} stops at {percent} percent and starts over.
Since {version} was installed last night nothing works as before.
How do I go back to {version}? The new one is a disaster.
notifications 110 camera:.25 doorbell:.2
I get forty alerts a day because of the neighbour's cat.
The push messages come {days} minutes late, when the visitor is long gone.
My {phone} stays silent although all the sounds are switched on.
voice-assistant 70 plug:.25 hub:.2 thermostat:.15
The speaker says that it cannot find a device called {room} lamp.
Telling it to turn off the {room} switches everything off in the whole house.
It answers in German since {date}, which is fun, but not what I need.
complaint 60 shipping:.2 refund:.15 billing:.15
I have been on hold for fifty minutes and was then cut off.
This is the third time that I write and all I get is a form letter.
I am really disappointed, your service used to be so much better.
If nobody takes care of this by {date}, I will tell everybody in {place} about it.
praise 70 setup:.1 shipping:.1
Just wanted to say that {name} on the phone was wonderful.
Everything works like a charm since your last answer, thank you so much!
Best purchase of the year, even my father in {place} wants one now.
feature-request 130 notifications:.15 voice-assistant:.12 accessibility:.04 data-export:.05 api:.05
It would be great if the app had a dark mode.
Could you add a holiday schedule in one of the next versions?
I wish that I could give guests access for one evening only.
Please consider a widget for the lock screen of the {phone}.
invoice 70 billing:.25 business-account:.12
Our bookkeeping needs a document with the tax number for order {order}.
The PDF that came with {order} has the wrong company name on it.
Please send me the paperwork for {date}, I cannot download it.
discount 60 subscription:.2 billing:.15
The code {coupon} is refused in the basket.
Do students or pensioners get a lower price?
I ordered one day before the sale started, can you still give me the {percent} percent?
privacy 55 camera:.3 account:.15 legal:.06
Who can look at the clips from our {room}, and where are they kept?
Please delete everything that you have stored about me.
I do not want that my movements are analysed, how do I opt out?
business-account 30 invoice:.3 discount:.15 api:.1
We run a small hotel in {place} and need forty of the {device}.
Is there a reseller programme, and whom would I talk to?
data-export 16 privacy:.25 api:.2
How do I get all the temperature readings of last year into a spreadsheet?
I need my clips as files, all of them, before I switch to another phone.
api 16 data-export:.1 feature-request:.15
The endpoint for the sensor values answers 429 after ten calls.
The developer page shows a token that no script of mine can use.
accessibility 12 feature-request:.2 app-crash:.1
The screen reader does not speak the buttons of the {room} page.
My mother is almost blind and cannot tell the grey letters from the white ground.
phishing 8 account:.2
I received a strange mail in your name that asks for my card details.
The sender is {mail}, and the link leads to a shop in {place} - is that really you?
legal 7 privacy:.3 complaint:.2
My lawyer asks for the postal address of your company's seat.
I am setting a deadline of {days} days, after that I will go to court.
recall 10 warranty:.3 plug:.4
I read in the paper that some {plug} can catch fire, is mine among them?
The serial number ends with {code}, do I have to stop using it because of the safety notice?
camera+doorbell+notifications
I only see who was there when it is much too late.
The {device} sees everything and tells me nothing.
camera+doorbell+battery+warranty
The {device} at the gate went dark on {date} and has stayed dark.
thermostat+hub+firmware+plug
The {device} does what it wants since {date}.
It worked for years, and since {date} the {room} is a mess.
app-crash+login+firmware
Since {version} I only see a white page on my {phone}.
feature-request+notifications+voice-assistant
Is it possible that the {device} tells me when somebody opens the {room} window?
privacy+account+data-export+api
I want to know what you have saved under {mail}, and to have a copy of it.
invoice+business-account+discount
We are a company of {days} people and would like a better offer than {order}.
shipping+complaint+returns
I stayed at home all day on {date} for nothing.
shipping+account+invoice
The address on order {order} is the old one in {place}.
praise+complaint+cancellation
I have told all my friends in {place} about you.
"""

CHATTER = """
I have been a customer since {year}.
By the way, the new website looks nice.
I am not very good with technical things, so please be patient with me.
We live in an old house in {place} with thick walls.
My neighbour {name} installed it for us.
The delivery was quick at the time, no problem there.
I changed my password last year, that cannot be the reason.
It is not about the money.
The battery is full, I checked.
The firmware is the newest one, {version}.
My other devices, a {gadget} and a Plug Duo, work well.
I do not want to cancel or send anything back, I just want this solved.
I already spoke to {name} from your team on {date}.
I wrote to you in {year} about something else.
The Wi-Fi is fine, we watch films all evening.
I have read the manual twice.
Nothing was changed in our home since {date}.
My sister in {place} has the same one.
I am writing this from my {phone}, so please excuse the short sentences.
You can call me in the evening.
The person in your shop, {shop}, sent me to you.
My account is {mail}.
The order number is {order}.
Device: {device}, version {version}.
I pay for {plan}, if that matters.
The receipt is attached.
A screenshot is attached.
"""

GREETINGS = "Hello,|Hi,|Hi there,|Dear team,|Good morning,|Dear Sir or Madam,|Hey,|Good evening,"
CLOSINGS = "Thanks, {name}|Kind regards, {name}|Best, {name}|{name}|Many thanks!|Please help!"

SLOTS = {
    "device": "Fennick Hub|Fennick Cam|Fennick Thermo|Fennick Bell|Fennick Plug|Hub Mini|Cam 2",
    "gadget": "Hub Mini|Cam Outdoor|Bell Pro|Thermo 3",
    "camera": "Fennick Cam|Cam Outdoor|camera|Cam 2",
    "thermo": "Fennick Thermo|thermostat|Thermo 3",
    "bell": "Fennick Bell|doorbell|Bell Pro",
    "hub": "Fennick Hub|Hub Mini|bridge",
    "plug": "Fennick Plug|smart plug|socket|Plug Duo",
    "plan": "Fennick Plus|Fennick Family|the Plus plan|the yearly plan|my membership",
    "money": "4.99|9.99|12.50|29.00|49.90|89.00|129.00|199.00 euros|64 pounds|240 dollars",
    "date": "Monday|Friday|the 3rd|March 12th|1 June|Wednesday|Tuesday|the 28th|15 October",
    "days": "3|5|8|10|14|21|30|45",
    "months": "5|9|11|14|18|23",
    "year": "2017|2018|2019|2020|2021|2022",
    "step": "2|3|4|the last one",
    "percent": "5|10|15|20|35|60|99",
    "code": "E-104|E-221|0x80F2|F17|504|C-33|H-9001|E-77",
    "version": "2.4.1|3.0|3.1.2|4.0.0|4.2|5.0 beta",
    "coupon": "SPRING20|WELCOME|HOME10|BLACK35",
    "order": "FN-20418|FN-33871|FN-48210|FN-51996|FN-60734|FN-77125",
    "name": "Anna|Ben|Carla|Dmitri|Elif|Farid|Greta|Hugo|Ines|Jonas|Kofi|Lena|Mika|Nora|Priya",
    "place": "Leeds|Graz|Porto|Lyon|Malmö|Gdansk|Cork|Bergen|Basel|Ghent|Turin|Aarhus",
    "phone": "iPhone|Pixel|Galaxy|tablet|old Android phone|iPad",
    "browser": "Firefox|Chrome|Safari|Edge",
    "bank": "credit card|bank|PayPal",
    "shop": "Elektro Maier|HomeTec|Casa Lumen|the store at the station",
    "room": "kitchen|garage|bedroom|hall|garden|nursery|living room|cellar",
    "mail": "ines.k@example.org|jonas77@example.com|the.hugos@example.net|g.weber@example.org",
}
